"""One line of an import through the change gate: created, known already, put in place, refused."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Literal

from core.errors import InvalidInput, NotFound, Refused
from core.intake.knowledge_line import KnowledgeLine
from core.knowledge_transfer.owners import Owner, Owners
from core.knowledge_transfer.refusals import refusal
from core.knowledge_transfer.requests import (
    create_request,
    line_key,
    replace_request,
    says_the_same,
    turn_of,
)
from core.models import (
    AttachRequest,
    Change,
    ChangeRequest,
    ChangeStatus,
    Kind,
    KnowledgeItem,
    Operation,
    Origin,
    Receipt,
    ReceiptStatus,
    SubmitContext,
)
from core.models.base import Model
from core.ports import ChangeLog, Gate, Knowledge, NewId, SkillStore
from core.skill_bundle import bundle_hash
from core.snapshots import text_hash

_DONE = {ChangeStatus.APPLIED, ChangeStatus.REVERTED}
_OPEN = {ChangeStatus.APPLYING, ChangeStatus.HELD, ChangeStatus.STALE, ChangeStatus.REJECTED}


class Imported(Model):
    """What became of a line; in a dry run, what would become of it."""

    line: int
    outcome: Literal["created", "updated", "known", "held"]
    kind: Kind
    id: str
    name: str
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Importer:
    """Brings lines in. `origin` names the file; `replace` puts a line in place of what differs."""

    gate: Gate
    changes: ChangeLog
    knowledge: Knowledge
    skills: SkillStore
    new_id: NewId
    owners: Owners
    origin: str
    replace: bool = False
    dry_run: bool = False
    # A skill also changes lists that other skills change: they take turns.
    _skill_turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    _busy: dict[str, asyncio.Event] = field(default_factory=dict)

    async def bring_in(self, line: KnowledgeLine) -> Imported:
        """Store a line. Raises InvalidInput, Refused, NotFound for it alone; DependencyDown."""
        owner = self.owners.of(line.entry)
        if line.entry.kind is not Kind.SKILL:
            async with self._alone(turn_of(line, owner)):
                return await self._brought_in(line, owner)
        async with self._skill_turn:
            done = await self._brought_in(line, owner)
            if not self.dry_run and done.outcome != "held":  # nobody can be given it yet
                await self._attach(done, owner, self._reason(line))
            return done

    @asynccontextmanager
    async def _alone(self, key: str) -> AsyncIterator[None]:
        """Let lines that could be one item take turns: the first in the file comes first."""
        while key in self._busy:
            await self._busy[key].wait()
        self._busy[key] = asyncio.Event()
        try:
            yield
        finally:
            self._busy.pop(key).set()

    async def _brought_in(self, line: KnowledgeLine, owner: Owner) -> Imported:
        key, earlier = await self._key(line, owner)
        if earlier is not None and earlier.status in _DONE:
            return await self._beside(line, owner, earlier.target_id, came_before=True)
        # The gate takes a key again only with the same request, and the line may have moved.
        reason = earlier.reason if earlier and earlier.status in _OPEN else self._reason(line)
        receipt = await self._submit(create_request(line, reason), key, owner)
        if receipt.status is ReceiptStatus.REFUSED and receipt.target_id and receipt.hits:
            return await self._beside(line, owner, receipt.target_id, came_before=False)
        return _imported(line, receipt, key)

    async def _key(self, line: KnowledgeLine, owner: Owner) -> tuple[str, Change | None]:
        """Give the line's key, and what was done under it. What is gone since is done anew."""
        base = key = line_key(line, owner)
        while True:
            earlier = await self.changes.find(key)
            if earlier is None or earlier.status not in _DONE:
                return key, earlier
            if await self._known(earlier.kind, owner.tenant_id, earlier.target_id):
                return key, earlier
            key = f"{base}:{earlier.id}"

    async def _beside(
        self, line: KnowledgeLine, owner: Owner, item_id: str, *, came_before: bool
    ) -> Imported:
        """Bring in a line whose name or id is taken. Raises Refused where it says other things."""
        kind = line.entry.kind
        item = await self.knowledge.get(kind, owner.tenant_id, item_id)
        folder = await self.skills.read(item_id, owner.tenant_id) if kind is Kind.SKILL else None
        is_own = kind is Kind.SKILL or item.agent_id == owner.agent_id
        same = is_own and says_the_same(line, item, folder)
        if same or (came_before and not self.replace):
            return Imported(
                line=line.number, outcome="known", kind=kind, id=item.id, name=item.name
            )
        if not self.replace or not is_own:
            raise Refused(_taken(line, item, owner, may_replace=is_own))
        # Once to each state of the item, which each change of it makes another.
        seen = bundle_hash(folder) if folder else text_hash(item.content)
        key = f"{line_key(line, owner)}:{item.change_id}:{seen[:12]}"
        begun = await self.changes.find(key)
        reason = begun.reason if begun and begun.status in _OPEN else self._reason(line)
        request = replace_request(line, item.id, reason)
        return _imported(line, await self._submit(request, key, owner), key)

    async def _attach(self, done: Imported, owner: Owner, reason: str) -> None:
        """Put a skill on the lists of all agents that the line names."""
        agent_ids = owner.others if done.outcome == "created" else (owner.agent_id, *owner.others)
        for agent_id in filter(None, agent_ids):
            request = AttachRequest(skill_ids=(done.id,), reason=reason)
            context = Owner(owner.tenant_id, agent_id)
            receipt = await self._submit(request, f"import:attach:{self.new_id()}", context)
            if not receipt.status.is_outcome:
                raise Refused(
                    f"it is in, but not on the list of agent {agent_id!r}: {receipt.message}"
                )

    async def _submit(self, request: ChangeRequest, key: str, owner: Owner) -> Receipt:
        context = SubmitContext(
            key=key, tenant_id=owner.tenant_id, agent_id=owner.agent_id, origin=Origin.IMPORT
        )
        return await self.gate.submit(request, context)

    async def _known(self, kind: Kind, tenant_id: str, item_id: str) -> bool:
        try:
            await self.knowledge.get(kind, tenant_id, item_id)
        except NotFound:
            return False
        return True

    def _reason(self, line: KnowledgeLine) -> str:
        return f"brought in from {self.origin}, line {line.number}"


def _imported(line: KnowledgeLine, receipt: Receipt, key: str) -> Imported:
    """Give what a receipt says of a line. Raises Refused, InvalidInput."""
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
    if receipt.status is ReceiptStatus.HELD:
        return "held"
    return "created" if receipt.operation is Operation.CREATE else "updated"


def _taken(line: KnowledgeLine, item: KnowledgeItem, owner: Owner, *, may_replace: bool) -> str:
    by_id = line.entry.id == item.id and line.entry.kind is not Kind.SKILL
    what = f"the id {item.id!r}" if by_id else f"the name {item.name!r}"
    if not may_replace:
        return f"{what} belongs to agent {item.agent_id!r}: leave the id out, or import it there"
    whose = f"{item.kind} {item.id}" + (f" of agent {owner.agent_id!r}" if owner.agent_id else "")
    return f"{what} is taken by {whose}, which says other things: --replace puts this in its place"
