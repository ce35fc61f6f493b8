"""Prepare a held change again, against what is there by now; by code alone.

A CREATE beside an item that has arrived becomes an UPDATE of that item. What contradicts what is
there becomes a change that puts itself in its place, for a person to decide between the two.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from core.changes.gate import drafts
from core.changes.gate.deps import GateDeps
from core.changes.gate.drafts import published_of
from core.changes.merging import NotMergeable, folder_onto, overriding, rows_onto
from core.changes.steps import StoredStates, files_of
from core.changes.three_way_merge import Clash, State, rebased
from core.domain.errors import AlreadyExists, InvalidInput, NotFound, Refused
from core.domain.hashing import state_hash
from core.domain.messages import Message
from core.domain.models import (
    SKILL_MD,
    Change,
    ChangeRequest,
    Kind,
    KindRequest,
    MemoryRequest,
    MergeMode,
    Operation,
    Prepared,
    Relationship,
    RestoreRequest,
    RuleDraft,
    RuleRequest,
    SkillFile,
    SkillRequest,
    Snapshot,
)
from core.knowledge.duplicates import Known, evidence
from core.skills.document.frontmatter import set_name


class NothingLeft(Exception):
    """What is there says all of it already; the message tells a reviewer."""

    def __init__(self, message: str) -> None:
        self.message = message


class NeedsModel(Exception):
    """Code cannot say what becomes of it; `why` tells a reviewer, `item_id` what is in the way."""

    def __init__(self, why: str, item_id: str | None = None) -> None:
        self.why, self.item_id = why, item_id


@dataclass(frozen=True)
class Ground:
    """A change prepared again: its request, and what it became.

    `differs` says in what it contradicts what is there, "" if it does not; `how` are fields of the
    change that the request no longer agrees with.
    """

    request: ChangeRequest
    prepared: Prepared
    differs: str = ""
    how: Mapping[str, object] = field(default_factory=dict)


def _known_by_now(kind: Kind, name: str) -> NothingLeft:
    return NothingLeft(Message("review.known_by_now", kind=kind, name=name))


_OVERRIDES = {"merge_mode": MergeMode.REPLACE, "relationship": Relationship.SUPERSEDES}
_EXTENDS = {"merge_mode": MergeMode.EXTEND, "relationship": Relationship.EXTENDS}
_REFINES = {"merge_mode": MergeMode.REFINE, "relationship": Relationship.REFINES}


class Regrounding:
    """One change, and the items that arrived since it was prepared, as far as they are known."""

    def __init__(self, change: Change, deps: GateDeps, arrived: frozenset[str]) -> None:
        self._change = change
        self._deps = deps
        self._committer = deps.committers[change.kind]
        self._stored = StoredStates(deps.changes)
        self._context = drafts.context_of(change).model_copy(update={"unjudged": arrived})

    async def ground(self) -> Ground:
        """Return the change as it is to be now. Raises NothingLeft, NeedsModel, Refused."""
        change, asked = self._change, self._change.request
        if asked is None:
            raise Refused(
                Message("review.request_unknown", id=change.id), hint=Message("review.reject")
            )
        now = await self._committer.current(change.tenant_id, change.target_id)
        if now is None and change.after is None:
            raise NothingLeft(Message("review.gone_already", name=change.target_name))
        is_content = change.kind is not Kind.AGENT_SKILLS and change.after is not None
        if isinstance(asked, RestoreRequest) or not is_content:
            return await self._as_asked(asked)
        if change.before is None:
            return await self._created(asked, now)
        if now is None:
            return await self._brought_back()
        return await self._updated(asked, now)

    async def instead(self, differs: str, item_id: str | None = None) -> Ground:
        """Return the change as one that puts all of itself in the place of what is there."""
        change = self._change
        target = item_id or change.target_id
        now = await self._committer.current(change.tenant_id, target)
        if now is None:
            return await self._brought_back()
        return await self._made(await self._whole(target), differs, _OVERRIDES)

    async def _as_asked(self, asked: ChangeRequest) -> Ground:
        request = await self._with_folder(asked)
        # A reviewer sees near items as warnings; they must not refuse it as for a model.
        return await self._made(request.model_copy(update={"is_import": True}))

    async def _made(
        self,
        request: ChangeRequest,
        differs: str = "",
        how: Mapping[str, object] | None = None,
    ) -> Ground:
        prepared = await drafts.prepare(request, self._context, self._deps)
        if state_hash(prepared.before) == state_hash(prepared.after):
            raise _known_by_now(prepared.kind, prepared.target_name)
        return Ground(request, prepared, differs, how or {})

    async def _created(self, asked: ChangeRequest, now: Snapshot | None) -> Ground:
        request = (await self._with_folder(asked)).model_copy(update={"is_import": False})
        if now is not None and self._change.kind is not Kind.SKILL:
            return await self._beside(self._change.target_id)  # somebody used the id it asks for
        try:
            return await self._made(request)
        except AlreadyExists as taken:
            return await self._beside(taken.item_id)

    async def _beside(self, item_id: str) -> Ground:
        """Return the change as one of an item that has arrived, and says nearly the same."""
        now = await self._committer.current(self._change.tenant_id, item_id)
        assert now is not None
        if self._change.kind is Kind.MEMORY:
            return await self._memory(item_id, now)
        if self._change.kind is Kind.DMN_RULE:
            return await self._rows(None, item_id, now)
        if not self._change.kind.is_built_in:
            return await self._item(item_id, now)
        return await self._sections(item_id, now)

    async def _item(self, item_id: str, now: Snapshot) -> Ground:
        """Return the change as one that puts an item of a package's kind in the place of one."""
        if now.content == self._text:
            raise _known_by_now(self._change.kind, now.name)
        return await self.instead(Message("near.same_key", name=now.name), item_id)

    def _said_whole(self, item_id: str) -> KindRequest:
        return KindRequest(
            target_kind=self._change.kind,
            operation=Operation.UPDATE,
            target_id=item_id,
            text=self._text,
            reason=self._change.reason,
            is_import=True,
            **_OVERRIDES,
        )

    async def _memory(self, item_id: str, now: Snapshot) -> Ground:
        text = self._text
        found = evidence(text, Known(item_id, now.name, now.content))
        if found.is_exact:
            raise _known_by_now(Kind.MEMORY, now.name)
        if found.is_about_another and self._change.before is None:
            return await self._apart()
        if override := await self._override(item_id, text, now):
            return override
        return await self._made(self._remember(item_id, _EXTENDS), "", _EXTENDS)

    async def _override(self, item_id: str, text: str, now: Snapshot) -> Ground | None:
        """Return a change that says a text in the place of what it contradicts; None if nothing."""
        before = self._change.before
        made, differs = overriding(text, now.content, before.content.splitlines() if before else ())
        if not differs:
            return None
        how = _OVERRIDES if made == text else _REFINES
        request = self._remember(item_id, _OVERRIDES).model_copy(update={"content": made})
        return await self._made(request, differs, how)

    async def _apart(self) -> Ground:
        """Return a memory of its own beside one about somebody or something else."""
        asked = self._change.request
        assert isinstance(asked, MemoryRequest)
        how = {"relationship": Relationship.UNRELATED}
        request = asked.model_copy(update={**how, "is_import": True})
        return await self._made(request, "", how)

    def _remember(self, item_id: str, how: Mapping[str, object]) -> MemoryRequest:
        after = self._change.after
        assert after is not None
        reach = after.reach
        return MemoryRequest(
            operation=Operation.UPDATE,
            target_id=item_id,
            content=after.content,
            endless=reach.valid_until is None and how is _OVERRIDES,
            **dict(reach),
            reason=self._change.reason,
            is_import=True,
            **how,
        )

    async def _rows(self, before: str | None, item_id: str, now: Snapshot) -> Ground:
        try:
            draft, clashing = rows_onto(before, self._text, now.content)
            if not (draft.rows or draft.remove_rows or draft.name or draft.hit_policy):
                raise _known_by_now(Kind.DMN_RULE, now.name)
            how = _REFINES if clashing or any(row.id for row in draft.rows) else _EXTENDS
            how = _REFINES if draft.remove_rows else how
            differs = Message("review.rows_differ", n=len(clashing)) if clashing else ""
            return await self._made(self._rule(item_id, draft, how), differs, how)
        except NotMergeable:
            raise NeedsModel(Message("review.other_way", name=now.name), item_id) from None
        except (Refused, InvalidInput) as error:
            raise NeedsModel(error.message, item_id) from error

    def _rule(self, item_id: str, draft: RuleDraft, how: Mapping[str, object]) -> RuleRequest:
        asked = self._change.request
        examples = (
            {row.annotation: row.example for row in asked.rule.rows}
            if isinstance(asked, RuleRequest)
            else {}
        )
        rows = tuple(
            row.model_copy(update={"example": examples.get(row.annotation, {})})
            for row in draft.rows
        )
        return RuleRequest(
            operation=Operation.UPDATE,
            target_id=item_id,
            rule=draft.model_copy(update={"rows": rows}),
            reason=self._change.reason,
            is_import=True,
            **how,
        )

    async def _sections(self, name: str, now: Snapshot) -> Ground:
        new, there = await self._states(now)
        try:
            folder = folder_onto(new, there)
        except NotMergeable:
            raise NeedsModel(Message("review.sections_differ", name=name), name) from None
        return await self._made(self._skill(name, folder), "", _EXTENDS)

    def _skill(self, name: str, folder: Mapping[str, SkillFile]) -> SkillRequest:
        return SkillRequest(
            operation=Operation.UPDATE,
            target_id=name,
            folder=folder,
            merge_mode=MergeMode.REPLACE,
            relationship=self._change.relationship,
            reason=self._change.reason,
            is_import=True,
            published=published_of(self._change),
        )

    async def _updated(self, asked: ChangeRequest, now: Snapshot) -> Ground:
        change = self._change
        if state_hash(now) == change.base_hash:
            return await self._as_asked(asked)
        if change.kind is Kind.DMN_RULE:
            assert change.before is not None
            return await self._rows(change.before.content, change.target_id, now)
        if change.kind is Kind.SKILL:
            return await self._merged_skill(now)
        if not change.kind.is_built_in:
            return await self._item(change.target_id, now)
        return await self._memory_update(asked, now)

    async def _merged_skill(self, now: Snapshot) -> Ground:
        try:
            made = rebased(Kind.SKILL, *await self._three(now))
        except Clash:
            raise NeedsModel(Message("review.sections_differ", name=now.name)) from None
        return await self._made(self._skill(self._change.target_id, files_of(made)))

    async def _memory_update(self, asked: ChangeRequest, now: Snapshot) -> Ground:
        """Return an edit of a memory that has changed, as it was asked for where that still fits.

        What a person has edited, or what replaces the whole, is compared with what is there.
        """
        assert isinstance(asked, MemoryRequest)
        change = self._change
        is_own = change.edited_by is not None or change.contradicts is not None
        says_all = asked.merge_mode in (None, MergeMode.REPLACE) and not asked.part.strip()
        if not says_all and not is_own:
            return await self._added(asked, now)
        try:
            made = rebased(Kind.MEMORY, *await self._three(now))
        except Clash:
            # Each says something else in the place of the same words.
            found = evidence(self._text, Known(change.target_id, now.name, now.content))
            if found.is_exact:
                raise _known_by_now(Kind.MEMORY, now.name) from None
            return await self.instead(found.why)
        if not is_own:
            return await self._as_asked(asked)
        whole = self._remember(change.target_id, _OVERRIDES)
        how = {"merge_mode": MergeMode.REFINE}  # the rest stays: it replaces the whole no more
        return await self._made(whole.model_copy(update={"content": made.text}), "", how)

    async def _added(self, asked: MemoryRequest, now: Snapshot) -> Ground:
        """Return an addition to a memory, or a change of a part of it, where that still fits."""
        try:
            override = None
            if asked.merge_mode is MergeMode.EXTEND:
                text = asked.content.strip()
                override = await self._override(self._change.target_id, text, now)
            return override or await self._as_asked(asked)
        except Refused as error:
            return await self.instead(error.message)

    async def _brought_back(self) -> Ground:
        """Return the change as one that creates anew what somebody has deleted."""
        change = self._change
        whole = await self._whole("")
        request = whole.model_copy(
            update={"operation": Operation.CREATE, "target_id": None, "merge_mode": None}
        )
        differs = Message("review.was_deleted", kind=change.kind, name=change.target_name)
        try:
            return await self._made(
                request, differs, {"merge_mode": None, "relationship": change.relationship}
            )
        except AlreadyExists as taken:
            return await self._beside(taken.item_id)

    async def _whole(self, target: str) -> ChangeRequest:
        """Return the request that makes a target say what the change leads to, and only that."""
        if self._change.kind is Kind.MEMORY:
            return self._remember(target, _OVERRIDES)
        if self._change.kind is Kind.DMN_RULE:
            return self._rule(target, RuleDraft(), _OVERRIDES).model_copy(
                update={"document": self._text}
            )
        if not self._change.kind.is_built_in:
            return self._said_whole(target)
        state = await self._stored.read(self._change.after)
        assert state is not None
        folder = files_of(state)
        if target:
            document = set_name(folder[SKILL_MD].data.decode(), target)
            folder[SKILL_MD] = SkillFile(data=document.encode(), executable=state.runs)
        return self._skill(target, folder)

    async def _with_folder(self, asked: ChangeRequest) -> ChangeRequest:
        """Return a request with the folder that was prepared: no author writes it again."""
        if not isinstance(asked, SkillRequest | RestoreRequest) or self._change.after is None:
            return asked
        if isinstance(asked, RestoreRequest) and asked.folder is None:
            return asked
        state = await self._stored.folder(self._change.after.files or {})
        if isinstance(asked, SkillRequest):  # what was learnt is in it already
            return asked.model_copy(update={"folder": state, "upgrades": None})
        return asked.model_copy(update={"folder": state})

    async def _states(self, now: Snapshot) -> tuple[State, State]:
        new, there = await self._stored.read(self._change.after), await self._read(now)
        assert new is not None
        return new, there

    async def _three(self, now: Snapshot) -> tuple[State, State, State]:
        before = await self._stored.read(self._change.before)
        after, there = await self._states(now)
        assert before is not None
        return before, after, there

    async def _read(self, now: Snapshot) -> State:
        """Return what is there; what was changed past the gate is not stored with us."""
        try:
            state = await self._stored.read(now)
        except NotFound as error:
            raise NeedsModel(error.message) from error
        assert state is not None
        return state

    @property
    def _text(self) -> str:
        assert self._change.after is not None
        return self._change.after.content
