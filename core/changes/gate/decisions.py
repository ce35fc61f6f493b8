"""A reviewer's decisions on a held change: approve, reject, edit, prepare again."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping

from core.changes.gate import drafts, receipts, records
from core.changes.gate.deps import GateDeps
from core.changes.gate.drafts import prepare, when_free
from core.changes.gate.records import finish, has_moved
from core.changes.said_order.settle import named, settle
from core.changes.steps import StoredStates
from core.changes.three_way_merge import Clash, rebased
from core.domain.errors import (
    ArtifactInvalid,
    Decided,
    DependencyDown,
    InvalidInput,
    NotFound,
    PrepareFailed,
    Refused,
    Stale,
    Unforeseen,
)
from core.domain.hashing import state_hash
from core.domain.messages import Message, joined
from core.domain.models import (
    SKILL_MD,
    Change,
    ChangeRequest,
    ChangeStatus,
    Edited,
    Kind,
    ListEdit,
    MemoryRequest,
    MergeMode,
    Operation,
    Receipt,
    RestoreRequest,
    RuleRequest,
    SkillFile,
    SkillListRequest,
    SkillRequest,
    Snapshot,
)
from core.domain.ports import ChangeLog


async def edit_request(change: Change, edited: Edited, changes: ChangeLog) -> ChangeRequest:
    """Return the request for the whole edited content, on behalf of the same agent.

    Raises Refused if there is nothing to edit, InvalidInput if the content does not fit the kind.
    """
    if change.after is None or isinstance(change.request, RestoreRequest):
        raise Refused(
            Message("review.nothing_to_edit", id=change.id, what=_what(change)),
            hint=Message("review.approve_or_reject"),
        )
    if edited.files is not None and change.kind is not Kind.SKILL:
        raise InvalidInput(
            Message("review.no_files", kind=change.kind),
            hint=Message("review.give_content"),
        )
    if change.kind is Kind.SKILL:
        return _skill(change, await _edited_folder(change, edited, changes))
    if edited.content is None:
        raise InvalidInput(Message("review.edited_missing"))
    if change.kind is Kind.AGENT_SKILLS:
        names = tuple(filter(None, map(str.strip, edited.content.splitlines())))
        return SkillListRequest(skill_ids=names, edit=ListEdit.SET, reason=change.reason)
    if change.kind is Kind.DMN_RULE:
        return RuleRequest(document=edited.content, **_common(change))
    reach = change.after.reach  # a reviewer's edit of the text leaves it
    return MemoryRequest(
        content=edited.content,
        valid_until=reach.valid_until,
        endless=reach.valid_until is None,
        scope=reach.scope,
        user=reach.user,
        **_common(change),
    )


async def whole_request(change: Change, now: Snapshot | None, deps: GateDeps) -> ChangeRequest:
    """Return the original request, to be prepared against the state `now`.

    A reviewer's edit is rebased onto that state. Raises Refused if it no longer applies, or if
    the request was not recorded.
    """
    if change.request is None:
        raise Refused(
            Message("review.request_unknown", id=change.id),
            hint=Message("review.reject"),
        )
    if change.edited_by is not None and change.before is not None and now is not None:
        return await edit_request(
            change, await _rebased_edit(change, now, deps.changes), deps.changes
        )
    # A reviewer sees near items as warnings; they must not refuse the request as for a model.
    request = change.request.model_copy(update={"is_import": True})
    if isinstance(request, SkillRequest | RestoreRequest) and request.folder is not None:
        folder = await _folder(change.after, deps.changes)
        return request.model_copy(update={"folder": folder})
    return request


async def _rebased_edit(change: Change, now: Snapshot, changes: ChangeLog) -> Edited:
    stored = StoredStates(changes)
    try:
        before, after, onto = [
            await stored.read(state) for state in (change.before, change.after, now)
        ]
        assert before is not None
        assert after is not None
        assert onto is not None
        made = rebased(change.kind, before, after, onto)
    except (Clash, NotFound):
        raise Refused(
            Message("review.edit_misfits", id=change.id, name=change.target_name),
            hint=Message("review.edit_again"),
        ) from None
    return Edited(content=made.text, files=made.files)


async def _folder(state: Snapshot | None, changes: ChangeLog) -> Mapping[str, SkillFile]:
    refs = (state.files if state else None) or {}
    return await StoredStates(changes).folder(refs)


def _skill(change: Change, folder: Mapping[str, SkillFile]) -> SkillRequest:
    return SkillRequest(folder=folder, **_common(change))


def _common(change: Change) -> dict[str, object]:
    """Return the unchanged parts of the request; near items only warn about a person's text."""
    is_new = change.operation is Operation.CREATE
    return {
        "operation": change.operation,
        "target_id": change.target_id,
        "merge_mode": None if is_new else MergeMode.REPLACE,
        "relationship": change.relationship,
        "reason": change.reason,
        "is_import": True,
    }


async def _edited_folder(
    change: Change, edited: Edited, changes: ChangeLog
) -> Mapping[str, SkillFile]:
    if edited.files is not None:
        folder = dict(edited.files)
    else:
        folder = dict(await _folder(change.after, changes))
    if edited.content is not None:
        folder[SKILL_MD] = SkillFile(data=edited.content.encode())
    return folder


def _what(change: Change) -> str:
    if change.after is None:
        return Message("review.deletes_target")
    return Message("review.restores")


_OPEN = {ChangeStatus.HELD, ChangeStatus.STALE}


class Decisions:
    """`by` is who decides, `seen` the content hash they reviewed, `known` the change if just read.

    What is approved is what is applied: if the change was edited, decided or overtaken since,
    the decision is refused and nothing happens. All methods raise NotFound, Decided and Stale.
    """

    def __init__(self, deps: GateDeps) -> None:
        self._deps = deps

    async def approve(
        self, change_id: str, *, by: str, seen: str | None = None, known: Change | None = None
    ) -> Receipt:
        """Apply a held change as it stands. Raises DependencyDown: a worker finishes it later."""
        change = await self._waiting(change_id, seen, known)
        await self._require_current(change)
        if self._deps.dry_run:
            return receipts.receipt_of(_as(change, ChangeStatus.PREPARED))
        event = records.event("change.approved", change, by=by)
        intent = change

        async def approve() -> None:
            nonlocal intent  # repeated while the target is locked: the last try counts
            intent = await self._deps.reviews.approve(change, by, event)

        try:
            await self._first(change_id, when_free(approve, self._deps.sleep))
        except Unforeseen as error:
            raise await self._stale(change, error) from error
        try:
            return await finish(intent, self._deps)
        except DependencyDown as error:
            goes_on = Message("review.goes_on")
            error.hint = joined([goes_on, error.hint] if error.hint else [goes_on], " ")
            raise

    async def reject(
        self,
        change_id: str,
        *,
        by: str,
        reason: str,
        seen: str | None = None,
        known: Change | None = None,
    ) -> Change:
        """Close a held change unapplied. Raises InvalidInput without a reason."""
        if not reason.strip():
            raise InvalidInput(Message("review.reason_needed"), hint=Message("review.say_why"))
        change = await self._waiting(change_id, seen, known)
        if not self._deps.dry_run:
            event = records.event("change.rejected", change, by=by, reason=reason)
            end = self._deps.reviews.end(change, ChangeStatus.REJECTED, by, reason, event)
            await self._first(change_id, end)
        return _as(change, ChangeStatus.REJECTED)

    async def edit(
        self, change_id: str, edited: Edited, *, by: str, seen: str | None = None
    ) -> Change:
        """Replace the content of a held change; it is checked and held again.

        Raises InvalidInput and Refused if the checks reject it.
        """
        change = await self._waiting(change_id, seen)
        await self._require_current(change)
        request = await edit_request(change, edited, self._deps.changes)
        return await self._prepared(change, request, "change.edited", by, edited_by=by)

    async def prepare_again(self, change_id: str, *, by: str) -> Change:
        """Prepare a change against the current state; it is held again.

        Raises ConfigurationError if a model has to write and none is configured.
        """
        change = await self._waiting(change_id, None)
        committer = self._deps.committers[change.kind]
        now = await committer.current(change.tenant_id, change.target_id)
        request = await whole_request(change, now, self._deps)
        if change.edited_by is not None and change.merge_mode is MergeMode.REPLACE:
            # The edit was rebased onto the current state, so it no longer replaces the whole.
            change = change.model_copy(update={"merge_mode": MergeMode.REFINE})
        return await self._prepared(
            change, request, "change.prepared_again", by, edited_by=change.edited_by
        )

    async def has_moved(self, change: Change) -> bool:
        """Whether the target has changed since; records nothing."""
        return await has_moved(change, self._deps)

    async def _first(self, change_id: str, decision: Awaitable[object]) -> None:
        """Carry out a decision; if another came first, raise who made it, or that it was edited."""
        try:
            await decision
        except Decided as error:
            change = await self._deps.changes.get(change_id)
            raise (_edited(change_id) if change.status in _OPEN else _decided(change)) from error

    async def _waiting(
        self, change_id: str, seen: str | None, known: Change | None = None
    ) -> Change:
        change = known or await self._deps.changes.get(change_id)
        if change.status not in _OPEN or not change.held:
            raise _decided(change)
        if seen is not None and seen != change.content_hash:
            raise _edited(change_id)
        return change

    async def _require_current(self, change: Change) -> None:
        """Raise Stale, and record it, if the target has changed since."""
        error = _gone_stale(change)
        if change.status is ChangeStatus.STALE:
            raise error
        if await has_moved(change, self._deps):
            raise await self._stale(change, error)

    async def _stale(self, change: Change, error: Stale) -> Stale:
        """Record that a change went stale, and return the error with what to do."""
        if not self._deps.dry_run:
            event = records.event("change.went_stale", change, error.message)
            await self._deps.reviews.end(change, ChangeStatus.STALE, "", error.message, event)
        error.hint = error.hint or Message("review.refresh", id=change.id)
        return error

    async def _prepared(
        self,
        change: Change,
        request: ChangeRequest,
        event_name: str,
        by: str,
        *,
        edited_by: str | None,
    ) -> Change:
        context = drafts.context_of(change)
        began = await self._deps.reviews.now()
        try:
            prepared = await prepare(request, context, self._deps)
        except PrepareFailed as error:
            raise error.cause from error
        except ArtifactInvalid as error:
            raise InvalidInput(error.message, hint=error.hint) from error
        if state_hash(prepared.before) == state_hash(prepared.after):
            raise Refused(
                Message("review.already_said", kind=change.kind, name=prepared.target_name),
                hint=Message("review.reject_it"),
            )
        fresh = drafts.again(change, request, prepared)
        # A person's words are said when they are given; preparing again says nothing new.
        said = {"said_at": began, "heard_at": began} if event_name == "change.edited" else {}
        fresh = fresh.model_copy(
            update={
                "held": drafts.held_because(fresh, self._deps) or change.held,
                "edited_by": edited_by,
                "prepared_at": began,
                **said,
            }
        )
        fresh, blobs = await self._in_said_order(fresh, prepared.blobs)
        if not self._deps.dry_run:
            event = records.event(event_name, fresh, by=by)
            replace = self._deps.reviews.replace(fresh, change, blobs, event)
            await self._first(change.id, replace)
        return fresh

    async def _in_said_order(
        self, fresh: Change, blobs: Mapping[str, bytes]
    ) -> tuple[Change, Mapping[str, bytes]]:
        """Return as much of a change as was not said anew since. Raises Refused if nothing is."""
        words = await drafts.later_words(fresh, self._deps)
        if not words:
            return fresh, blobs
        placed = await settle(fresh, blobs, words, self._deps.steps, self._deps.changes)
        if placed.is_whole and placed.overtaken_by is not None:
            raise Refused(
                Message("review.overtaken", id=fresh.id, **named(placed.overtaken_by)),
                hint=Message("review.reject_or_edit"),
            )
        return placed.change, placed.blobs


def _edited(change_id: str) -> Stale:
    return Stale(
        Message("review.not_what_was_seen", id=change_id),
        hint=Message("review.look_then_decide"),
    )


def _gone_stale(change: Change) -> Stale:
    return Stale(
        Message("review.target_changed", kind=change.kind, name=change.target_name, id=change.id),
        hint=Message("review.refresh", id=change.id),
    )


def _decided(change: Change) -> Decided:
    if not change.held:
        return Decided(Message("review.waits_for_nobody", id=change.id, status=change.status))
    return Decided(Message("review.decided", id=change.id, how=_how(change), status=change.status))


def _how(change: Change) -> str:
    at = f"{change.decided_at:%Y-%m-%d %H:%M:%S %Z}" if change.decided_at else ""
    if change.decided_by and at:
        return Message("review.by_at", who=change.decided_by, time=at)
    if change.decided_by:
        return Message("review.by", who=change.decided_by)
    return Message("review.at", time=at) if at else ""


def _as(change: Change, status: ChangeStatus) -> Change:
    return change.model_copy(update={"status": status})
