"""Import one line through the change gate: created, already known, replaced or refused."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from core.decision_table import draft_to_table, parse_xml, same_table, to_xml
from core.domain.errors import (
    InvalidInput,
    KeyReused,
    NotFound,
    Refused,
    SkillWorkerError,
    Stale,
    TargetBusy,
)
from core.domain.hashing import memory_name, name_key, text_hash
from core.domain.input_formats.knowledge import KnowledgeLine
from core.domain.messages import Message, joined
from core.domain.models import (
    Bundle,
    Change,
    ChangeRequest,
    ChangeStatus,
    Compared,
    Kind,
    KindRequest,
    KnowledgeItem,
    KnownText,
    MemoryRequest,
    MergeMode,
    Operation,
    Origin,
    Receipt,
    ReceiptStatus,
    Relationship,
    RuleDraft,
    RuleRequest,
    SkillListRequest,
    SkillRequest,
    SubmitContext,
)
from core.domain.ports import ChangeLog, Gate, Knowledge, SkillStore
from core.knowledge.transfer.lines import (
    DONE,
    FEW,
    Draft,
    Imported,
    KnownLines,
    Texts,
    attach_key,
    line_key,
)
from core.knowledge.transfer.owners import Owner, Owners
from core.knowledge.transfer.refusals import refusal
from core.skills.bundle import bundle_hash
from core.skills.published.wording import install_reason

__all__ = ["OF_THE_LINE", "Imported", "Importer", "would_wait"]


def create_request(line: KnowledgeLine, reason: str) -> ChangeRequest:
    """Return the request for a new item, declared unrelated: the user has decided to import it."""
    entry = line.entry
    given = {
        "operation": Operation.CREATE,
        "target_id": entry.name if entry.kind is Kind.SKILL else entry.id,
        "relationship": Relationship.UNRELATED,
        "is_import": True,
        "reason": reason,
    }
    return _request(line, given)


def replace_request(line: KnowledgeLine, target_id: str, reason: str) -> ChangeRequest:
    """Return the request to replace a known item by the line."""
    given = {
        "operation": Operation.UPDATE,
        "target_id": target_id,
        "relationship": Relationship.SUPERSEDES,
        "is_import": True,
        "merge_mode": MergeMode.REPLACE,
        "reason": reason,
    }
    return _request(line, given)


def _request(line: KnowledgeLine, given: Mapping[str, object]) -> ChangeRequest:
    if line.entry.kind is Kind.SKILL:
        return SkillRequest.model_validate(
            {**given, "folder": line.folder, "published": line.published}
        )
    if line.entry.kind is Kind.MEMORY:
        reach = line.entry.model_dump(include={"valid_until", "scope", "user"})
        return MemoryRequest.model_validate({**given, **reach, "content": line.text})
    if not (kind := line.entry.kind).is_built_in:
        return KindRequest.model_validate({**given, "target_kind": kind, "text": line.text})
    return RuleRequest.model_validate({**given, "document": line.text, "rule": _draft(line)})


def _outcome_of(
    line: KnowledgeLine, answer: Receipt | SkillWorkerError, key: str
) -> Imported | SkillWorkerError:
    if not isinstance(answer, Receipt):
        return answer
    try:
        return _imported(line, answer, key)
    except OF_THE_LINE as error:
        return error


def says_the_same(line: KnowledgeLine, item: KnowledgeItem, folder: Bundle | None) -> bool:
    """Whether a known item says exactly what the line says. Raises RuleInvalid."""
    if line.folder is not None:
        return folder is not None and dict(folder.files) == dict(line.folder)
    if line.entry.kind is Kind.MEMORY:
        return item.content.strip() == line.text.strip() and _reaches_as_far(line, item)
    if item.content == line.text or not line.entry.kind.is_built_in:
        return item.content.strip() == line.text.strip()
    if line.entry.rule is None:
        return same_table(item.content, line.text)
    ids = (f"row_{number}" for number in range(1, 1 + len(line.entry.rule.rows)))
    table = draft_to_table(_draft(line), new_row_id=lambda: next(ids))
    return same_table(item.content, to_xml(table, decision_id="given"))


def _reaches_as_far(line: KnowledgeLine, item: KnowledgeItem) -> bool:
    """Whether a memory holds as long and for whom a line says, if it says that."""
    entry = line.entry
    stated = {"valid_until": entry.valid_until, "scope": entry.scope, "user": entry.user}
    return all(value is None or getattr(item, name) == value for name, value in stated.items())


def check_name(line: KnowledgeLine) -> None:
    """Raise InvalidInput if the names of a line and its rule differ, RuleInvalid if it is none."""
    entry = line.entry
    if entry.kind is not Kind.DMN_RULE:
        return
    inner = parse_xml(line.text).name if entry.rule is None else entry.rule.name
    if inner and entry.name and name_key(inner) != name_key(entry.name):
        raise InvalidInput(
            Message("import.two_names", name=entry.name, inner=inner),
            hint=Message("import.hint_name"),
        )


def _draft(line: KnowledgeLine) -> RuleDraft:
    draft = line.entry.rule or RuleDraft()
    if line.entry.rule is None or draft.name:
        return draft
    return draft.model_copy(update={"name": line.entry.name or ""})


_OPEN = {ChangeStatus.APPLYING, ChangeStatus.HELD, ChangeStatus.STALE, ChangeStatus.REJECTED}


# Errors of one line; any other, as a dependency that is down, ends the import.
OF_THE_LINE = (InvalidInput, Refused, NotFound, Stale, KeyReused, TargetBusy)


@dataclass(frozen=True, kw_only=True)
class Importer:
    """Import lines. `origin` names the file; with `replace` a line replaces a differing item.

    In a dry run `remember` makes the skills that would be written readable to those after them.
    """

    gate: Gate
    changes: ChangeLog
    knowledge: Knowledge
    skills: SkillStore
    owners: Owners
    origin: str
    replace: bool = False
    dry_run: bool = False
    remember: Callable[[Bundle, str], None] | None = None
    _would_be: dict[Owner, dict[str, str]] = field(default_factory=dict)
    _texts: dict[tuple[str, str], Texts] = field(default_factory=dict)

    async def bring_in(self, line: KnowledgeLine) -> Imported:
        """Import a line, after those before it: it is compared with what they added.

        Raises InvalidInput, Refused, NotFound for it alone; DependencyDown.
        """
        owner = self.owners.of(line.entry)
        check_name(line)
        if line.entry.kind is Kind.MEMORY:
            texts, text = await self._texts_of(owner, 1), await self._said(line)
            done = await self._brought_in(line, owner, texts.beside(text, line.entry.scope))
            if done.outcome in {"created", "updated"}:
                texts.add(done.id, done.name, text)
            return done
        if line.entry.kind is not Kind.SKILL:
            return await self._brought_in(line, owner)
        done = await self._brought_in(line, owner, self._before(owner))
        if done.outcome == "held":
            return done  # it does not exist yet
        if self.dry_run and done.outcome != "known":
            self._note(done, owner, line)
        elif done.id not in self._would_be.get(owner, ()):
            await self._attach(done, owner, line)
        return done

    def _before(self, owner: Owner) -> Compared | None:
        """Return the skills that would stand there, had this dry run stored those before."""
        known = self._would_be.get(owner, {})
        items = [
            KnownText(
                id=name,
                kind=Kind.SKILL,
                name=name,
                agent_id=owner.agent_id,
                content=text,
                score=0.0,
            )
            for name, text in known.items()
        ]
        return Compared(items=tuple(items)) if items else None

    def _note(self, done: Imported, owner: Owner, line: KnowledgeLine) -> None:
        self._would_be.setdefault(owner, {})[done.id] = line.text
        if self.remember is not None and line.folder is not None:
            self.remember(Bundle(name=done.id, files=line.folder), owner.tenant_id)

    async def bring_in_memories(
        self, lines: Sequence[KnowledgeLine]
    ) -> AsyncIterator[tuple[KnowledgeLine, Imported | SkillWorkerError]]:
        """Import memories in order, those that are new in sets; yield what each came to.

        Raises DependencyDown.
        """
        by_owner: dict[Owner, list[KnowledgeLine]] = {}
        for line in lines:
            try:
                owner = self.owners.of(line.entry)
            except (InvalidInput, NotFound) as error:
                yield line, error
            else:
                by_owner.setdefault(owner, []).append(line)
        for owner, own in by_owner.items():
            async for done in self._memories(own, owner):
                yield done

    async def _memories(
        self, lines: Sequence[KnowledgeLine], owner: Owner
    ) -> AsyncIterator[tuple[KnowledgeLine, Imported | SkillWorkerError]]:
        texts = await self._texts_of(owner, len(lines))
        said = [await self._said(line) for line in lines]
        known = await self._known(lines, said, owner)
        together: list[Draft] = []
        for line, text in zip(lines, said, strict=True):
            draft = known.draft(line, owner, text)
            if draft is not None:
                together.append(draft)
                continue
            for done in await self._together(together, owner, texts):
                yield done
            together = []
            came_before = known.came_before(line, owner, replace=self.replace)
            yield line, came_before or await self._one(line)
        for done in await self._together(together, owner, texts):
            yield done

    async def _one(self, line: KnowledgeLine) -> Imported | SkillWorkerError:
        try:
            return await self.bring_in(line)
        except OF_THE_LINE as error:
            return error

    async def _together(
        self, drafts: Sequence[Draft], owner: Owner, texts: Texts
    ) -> Sequence[tuple[KnowledgeLine, Imported | SkillWorkerError]]:
        """Import new memories of one owner, each compared with those before it."""
        asked = []
        for draft in drafts:
            line = draft.line
            compared = texts.beside(draft.text, line.entry.scope)
            texts.add(draft.item_id, memory_name(draft.text), draft.text)
            context = self._context(draft.key, owner, compared)
            asked.append((create_request(line, self._reason(line)), context))
        receipts = await self.gate.submit_all(asked) if asked else ()
        done = [
            (draft.line, _outcome_of(draft.line, receipt, draft.key))
            for draft, receipt in zip(drafts, receipts, strict=True)
        ]
        for draft, (_, outcome) in zip(drafts, done, strict=True):
            if not isinstance(outcome, Imported) or outcome.outcome != "created":
                texts.drop(draft.item_id)
        return done

    async def _texts_of(self, owner: Owner, lines: int) -> Texts:
        """Return the texts beside which an owner's lines stand, read where many lines come."""
        texts = self._texts.setdefault((owner.tenant_id, owner.agent_id), Texts())
        if lines >= FEW or texts.is_all:
            await texts.read(self.knowledge, owner)
        return texts

    async def _said(self, line: KnowledgeLine) -> str:
        """Return the text of a memory as it is stored: others are told what they stand beside."""
        request = await self.gate.masked(create_request(line, self._reason(line)))
        assert isinstance(request, MemoryRequest)
        return request.content

    async def _known(
        self, lines: Sequence[KnowledgeLine], said: Sequence[str], owner: Owner
    ) -> KnownLines:
        """Read what earlier imports made of these lines, and what has their ids and texts."""
        earlier = await self.changes.find_all([line_key(line, owner) for line in lines])
        ids = [line.entry.id for line in lines if line.entry.id]
        ids += [change.target_id for change in earlier.values()]
        items = await self.knowledge.taken(
            Kind.MEMORY, owner.tenant_id, owner.agent_id, ids=ids, contents=said
        )
        return KnownLines(earlier, items)

    async def _brought_in(
        self, line: KnowledgeLine, owner: Owner, compared: Compared | None = None
    ) -> Imported:
        key, earlier = await self._key(await _key_of(line, owner), self._is_there)
        if earlier is not None and earlier.status in DONE:
            return await self._beside(line, owner, earlier.target_id, came_before=True)
        reason = self._asked(earlier, line)
        if (
            compared is not None and line.entry.kind is Kind.MEMORY
        ):  # with its id and text free, only a set may take it for all
            compared = compared.model_copy(update={"is_all": False})
        receipt = await self._submit(create_request(line, reason), key, owner, compared)
        if receipt.status is ReceiptStatus.REFUSED and receipt.target_id and receipt.hits:
            return await self._beside(line, owner, receipt.target_id, came_before=False)
        return _imported(line, receipt, key)

    async def _key(
        self, base: str, stands: Callable[[Change], Awaitable[bool]]
    ) -> tuple[str, Change | None]:
        """Return a key and the change made under it; a new key if that change no longer stands."""
        key = base
        while True:
            earlier = await self.changes.find(key)
            if earlier is None or earlier.status not in DONE or await stands(earlier):
                return key, earlier
            key = f"{base}:{earlier.id}"

    async def _is_there(self, made: Change) -> bool:
        try:
            await self.knowledge.get(made.kind, made.tenant_id, made.target_id)
        except NotFound:
            return False
        return True

    async def _beside(
        self, line: KnowledgeLine, owner: Owner, item_id: str, *, came_before: bool
    ) -> Imported:
        """Import a line whose name or id is taken. Raises Refused if the contents differ."""
        kind = line.entry.kind
        folder = await self.skills.read(item_id, owner.tenant_id) if kind is Kind.SKILL else None
        item = await self._taken_by(kind, owner, item_id, folder)
        is_own = kind is Kind.SKILL or item.agent_id == owner.agent_id
        same = is_own and says_the_same(line, item, folder)
        if same or (came_before and not self.replace):
            return Imported(
                line=line.number, outcome="known", kind=kind, id=item.id, name=item.name
            )
        if not self.replace or not is_own:
            raise Refused(_taken(line, item, owner, may_replace=is_own))
        # Keyed by the state of the item, so that a repeated import replaces each state once.
        of_folder = await asyncio.to_thread(bundle_hash, folder) if folder else ""
        seen = of_folder or text_hash(item.content)
        key = f"{await _key_of(line, owner)}:{item.change_id}:{seen[:12]}"
        reason = self._asked(await self.changes.find(key), line)
        request = replace_request(line, item.id, reason)
        return _imported(line, await self._submit(request, key, owner), key)

    async def _taken_by(
        self, kind: Kind, owner: Owner, item_id: str, folder: Bundle | None
    ) -> KnowledgeItem:
        """Return the item of this id; a skill that only its folder shows is one too."""
        try:
            return await self.knowledge.get(kind, owner.tenant_id, item_id)
        except NotFound:
            if folder is None:
                raise
            text = folder.document
            return KnowledgeItem(
                id=item_id,
                kind=kind,
                tenant_id=owner.tenant_id,
                agent_id="",
                name=item_id,
                content=text,
            )

    async def _attach(self, done: Imported, owner: Owner, line: KnowledgeLine) -> None:
        """Add a skill to the lists of all agents that the line names."""
        agent_ids = owner.others if done.outcome == "created" else (owner.agent_id, *owner.others)
        for agent_id in filter(None, agent_ids):
            # Only the list shows whether an earlier addition still stands: submit it again.
            base = attach_key(done.id, owner.tenant_id, agent_id)
            key, earlier = await self._key(base, _never)
            request = SkillListRequest(skill_ids=(done.id,), reason=self._asked(earlier, line))
            receipt = await self._submit(request, key, Owner(owner.tenant_id, agent_id))
            if not receipt.status.is_outcome:
                raise Refused(Message("import.not_attached", agent=agent_id, why=receipt.message))

    async def _submit(
        self, request: ChangeRequest, key: str, owner: Owner, compared: Compared | None = None
    ) -> Receipt:
        return await self.gate.submit(request, self._context(key, owner, compared))

    def _context(self, key: str, owner: Owner, compared: Compared | None) -> SubmitContext:
        return SubmitContext(
            key=key,
            tenant_id=owner.tenant_id,
            agent_id=owner.agent_id,
            origin=Origin.IMPORT,
            compared=compared,
        )

    def _asked(self, earlier: Change | None, line: KnowledgeLine) -> str:
        """Return the reason of a request, that of an earlier one if still open.

        The gate accepts a key again only with the same request, and the line may have moved.
        """
        return earlier.reason if earlier and earlier.status in _OPEN else self._reason(line)

    def _reason(self, line: KnowledgeLine) -> str:
        if line.published is not None:
            return install_reason(line.published)
        if line.number == 0:  # a skill's folder or file has no lines
            return Message("import.reason_whole", origin=self.origin)
        return Message("import.reason", origin=self.origin, n=line.number)


async def _never(made: Change) -> bool:
    del made
    return False


def _imported(line: KnowledgeLine, receipt: Receipt, key: str) -> Imported:
    """Return the outcome of a line from its receipt. Raises Refused, InvalidInput."""
    if receipt.status is ReceiptStatus.REFUSED:
        raise Refused(refusal(line, receipt, key))
    if not receipt.status.is_outcome:
        raise InvalidInput(receipt.message)
    return Imported(
        line=line.number,
        outcome=_outcome(receipt),
        kind=line.entry.kind,
        id=receipt.target_id or "",
        name=receipt.target_name or "",
        warnings=receipt.warnings,
    )


def _outcome(receipt: Receipt) -> Literal["created", "updated", "known", "held"]:
    if receipt.status is ReceiptStatus.KNOWN:
        return "known"
    if receipt.status is ReceiptStatus.HELD or would_wait(receipt):
        return "held"
    return "created" if receipt.operation is Operation.CREATE else "updated"


def would_wait(receipt: Receipt) -> bool:
    """Whether a change of a dry run would be held."""
    said = receipt.message
    return receipt.status is ReceiptStatus.PREPARED and getattr(said, "code", "") == "receipt.waits"


async def _key_of(line: KnowledgeLine, owner: Owner) -> str:
    """Return the idempotency key of a line; a folder is hashed beside the event loop."""
    if line.folder is None:
        return line_key(line, owner)
    return await asyncio.to_thread(line_key, line, owner)


def _taken(line: KnowledgeLine, item: KnowledgeItem, owner: Owner, *, may_replace: bool) -> str:
    by_id = line.entry.id == item.id and line.entry.kind is not Kind.SKILL
    what = (
        Message("import.the_id", id=item.id)
        if by_id
        else Message("import.the_name", name=item.name)
    )
    if not may_replace:
        return Message("import.of_another", what=what, agent=item.agent_id)
    whose: str = Message("import.item", kind=item.kind, id=item.id)
    if owner.agent_id:
        agent = Message("import.of_agent", agent=owner.agent_id)
        whose = joined([whose, agent], "")
    return Message("import.taken", what=what, whose=whose)
