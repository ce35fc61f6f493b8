"""Lists of skills here and on the platform: what each side changed since they were compared."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import structlog
from pydantic import JsonValue

from core.domain.errors import InvalidInput, NoSuchTable, NotFound, NotWritten, SourceDown
from core.domain.hashing import text_hash
from core.domain.messages import Message
from core.domain.models import (
    Agent,
    Change,
    Kind,
    ListEdit,
    Operation,
    Origin,
    ReceiptStatus,
    SkillListRequest,
    SubmitContext,
)
from core.domain.models.deliveries import SkillListState
from core.domain.ports import Agents, Gate, PlatformRow, PlatformRows, WriteBackRecords

log = structlog.get_logger(__name__)

TRIES = 5  # at a list that the platform keeps changing
_TAKEN = {ReceiptStatus.APPLIED, ReceiptStatus.KNOWN, ReceiptStatus.ATTACHED}
Names = frozenset[str]


class Merged(NamedTuple):
    """What the platform's list is to be, and what of its own changes is to come back.

    `base` is what both lists count as having been when they were last compared.
    """

    write: Names
    added: Names
    removed: Names
    base: SkillListState


def merge(known: SkillListState, ours: Names, theirs: Names, touched: Collection[str]) -> Merged:
    """Compare both lists with what they were; where both sides changed, the platform wins.

    `touched` are the names that the change is about: they count as changed here since then, unless
    the platform has decided otherwise about them. What stands on one side only and nobody has
    changed stays as it is.
    """
    base = settled(known, theirs)
    ours_then = base.ours
    for name in set(touched) - base.left - base.coming:
        if name in ours and name not in base.theirs:
            ours_then -= {name}
        elif name not in ours and name in base.theirs:
            ours_then |= {name}
    added, removed = theirs - base.theirs, base.theirs - theirs
    write = (theirs | (ours - ours_then - removed)) - (ours_then - ours - added)
    return Merged(
        write,
        (added | base.coming & theirs) - ours,
        (removed | base.coming - theirs) & ours,
        base,
    )


def settled(known: SkillListState, theirs: Names) -> SkillListState:
    """Return what was known, with what a write that was cut off has reached.

    What was to be added and is there was added by us, as what was to be removed and is not.
    """
    came, went = known.adding & theirs, known.removing - theirs
    changed = {
        "ours": (known.ours | came) - went,
        "theirs": (known.theirs | came) - went,
        "adding": Names(),
        "removing": Names(),
    }
    return known.model_copy(update=changed)


class _Place(Protocol):
    """Where the platform has a list: that of an agent, or that of a tenant."""

    async def read(self) -> Names | None:
        """Return the list; None if the platform does not have it. Raises NoSuchTable."""

    async def write(self, names: Names, about: Collection[str]) -> bool:
        """Make it these, if it is still what was read; `about` are those that may have changed."""


class _OfAgent:
    """An agent's list: `users.skills`, or without that column the rows of `agent_skills`."""

    def __init__(self, rows: PlatformRows, agent: Agent) -> None:
        self._rows = rows
        self._user: PlatformRow = {"id": agent.id, "tenant_id": agent.tenant_id}
        self._rows_of: PlatformRow = {"user_id": agent.id, "tenant_id": agent.tenant_id}
        self._column: _Column | None = None

    async def read(self) -> Names | None:
        self._column = _Column(self._rows, "users", self._user)
        found = await self._column.read()
        return await self._in_rows() if found and self._column.is_missing else self._column.names

    async def write(self, names: Names, about: Collection[str]) -> bool:
        # Before the column: a write that is cut off in between is begun anew.
        if about and (listed := await self._listed()) is not None:
            for name in sorted(set(about) & (names - listed)):
                await self._rows.add("agent_skills", {**self._rows_of, "skill_name": name})
            for name in sorted(set(about) & (listed - names)):
                await self._rows.remove("agent_skills", {**self._rows_of, "skill_name": name})
        assert self._column is not None
        return await self._column.write(names)

    async def _listed(self) -> Names | None:
        try:
            return await self._in_rows()
        except NoSuchTable:
            return None

    async def _in_rows(self) -> Names:
        found = await self._rows.read("agent_skills", self._rows_of, ("skill_name",))
        return Names(str(row["skill_name"]) for row in found)


class _OfTenant:
    """A tenant's list: `tenants.skills`."""

    def __init__(self, rows: PlatformRows, tenant_id: str) -> None:
        self._column = _Column(rows, "tenants", {"id": tenant_id}, is_array=True)

    async def read(self) -> Names | None:
        return self._column.names if await self._column.read() else None

    async def write(self, names: Names, about: Collection[str]) -> bool:
        del about
        return await self._column.write(names)


class _Column:
    """The column `skills` of one row: a text with commas, or an array."""

    def __init__(
        self, rows: PlatformRows, table: str, where: PlatformRow, *, is_array: bool = False
    ) -> None:
        self._rows, self._table, self._where, self._is_array = rows, table, where, is_array
        self._value: JsonValue = None
        self.is_missing = False
        self.names: Names | None = None

    async def read(self) -> bool:
        """Read it, and return whether there is such a row."""
        row = next(iter(await self._rows.read(self._table, self._where, ("skills",))), None)
        if row is None:
            return False
        self.is_missing = "skills" not in row
        if not self.is_missing:
            self._value = row["skills"]
            self.names = _names(self._value)
        return True

    async def write(self, names: Names) -> bool:
        if self.is_missing or names == self.names:
            return True
        is_array = isinstance(self._value, list) or self._is_array
        value: JsonValue = [*sorted(names)] if is_array else ",".join(sorted(names))
        as_read = {**self._where, "skills": self._value}
        return await self._rows.change(self._table, as_read, {"skills": value}) > 0


def _names(value: JsonValue) -> Names:
    """Return the names in a list, or in a text with commas."""
    parts = value if isinstance(value, list) else str(value or "").split(",")
    return Names(name for part in parts if (name := str(part).strip()))


@dataclass(frozen=True)
class SkillListWriter:
    """Writes lists of skills to the platform, and brings its own changes back through the gate.

    `skip` warns once that an agent is not written, and why.
    """

    rows: PlatformRows
    records: WriteBackRecords
    agents: Agents
    gate: Gate
    skip: Callable[[str, str], None]

    async def write(self, change: Change) -> Sequence[str]:
        """Write the lists that a change may have changed; return which are left out, and why."""
        touched = _touched(change)
        left = []
        for agent_id in await self._whose(change):
            try:
                agent = await self.agents.get(change.tenant_id, agent_id)
            except NotFound:
                continue
            left.append(await self._left_out(agent, touched))
        if change.kind is Kind.SKILL:
            left.append(await self._left_out(change.tenant_id, touched))
        return [why for why in left if why]

    async def _left_out(self, whose: Agent | str, touched: Names) -> str:
        """Write the list of an agent or a tenant, or return why it cannot be.

        "" too where the settings say not to.
        """
        try:
            why = await self._why_not(whose, touched)
        except NotWritten:
            return ""
        except NoSuchTable as error:  # which the adapter has warned of
            why = error.message
        except InvalidInput as error:  # such as an id that is not of the platform's kind
            if isinstance(whose, str):
                raise
            self.skip(whose.id, error.message)
            why = error.message
        whose_id = whose if isinstance(whose, str) else whose.id
        return Message("platform.left_list", id=whose_id, why=why) if why else ""

    async def _why_not(self, whose: Agent | str, touched: Names) -> str:
        if isinstance(whose, str):
            is_there = await self._tenant(whose, touched)
        else:
            is_there = await self._agent(whose, touched)
        return "" if is_there else Message("platform.no_list")

    async def _whose(self, change: Change) -> Sequence[str]:
        """Return the agents whose lists a change may have changed."""
        if change.kind is Kind.AGENT_SKILLS:
            return [change.target_id]
        own = [change.agent_id] if change.agent_id else []
        if change.operation is Operation.UPDATE:
            return own
        listers = await self.records.listers(change.tenant_id, change.target_id)
        return sorted({*own, *listers})

    async def _agent(self, agent: Agent, touched: Names) -> bool:
        """Write the list of an agent; whether the platform has it."""
        ours = Names(agent.skills)
        state = SkillListState(tenant_id=agent.tenant_id, agent_id=agent.id)
        merged = await self._written(_OfAgent(self.rows, agent), state, ours, touched)
        if merged is None:
            return False
        if merged.added or merged.removed:
            merged = merged._replace(base=await self._keep(merged, ours, is_coming=True))
        added = await self._brought_back(merged.added, ListEdit.ADD, agent, merged.base)
        removed = await self._brought_back(merged.removed, ListEdit.REMOVE, agent, merged.base)
        await self._keep(merged, (ours | added) - removed)
        return True

    async def _tenant(self, tenant_id: str, touched: Names) -> bool:
        """Write the list of a tenant; whether the platform has it."""
        ours = await self.records.tenant_skills(tenant_id)
        state = SkillListState(tenant_id=tenant_id, agent_id="")
        merged = await self._written(_OfTenant(self.rows, tenant_id), state, ours, touched)
        if merged is None:
            return False
        await self._keep(merged, ours)
        return True

    async def _written(
        self, place: _Place, new: SkillListState, ours: Names, touched: Names
    ) -> Merged | None:
        """Write a list; None if the platform does not have it. Raises SourceDown, Stale."""
        for _ in range(TRIES):
            theirs = await place.read()
            if theirs is None:
                return None
            known = await self.records.skill_list(new.tenant_id, new.agent_id)
            first = new.model_copy(update={"ours": ours, "theirs": theirs})
            merged = merge(known or first, ours, theirs, touched)
            begun = known.adding | known.removing if known else Names()
            if merged.write != theirs:
                writing = {"adding": merged.write - theirs, "removing": theirs - merged.write}
                intent = merged.base.model_copy(update=writing)
                merged = merged._replace(base=await self.records.keep(intent))
            if await place.write(merged.write, touched | begun | (merged.write ^ theirs)):
                return merged
        whose = new.agent_id or new.tenant_id
        raise SourceDown(Message("platform.keeps_changing", id=whose))

    async def _keep(
        self, merged: Merged, ours: Names, *, is_coming: bool = False
    ) -> SkillListState:
        """Note both lists as they are now, with what is coming back or was not taken."""
        changed, differs = merged.added | merged.removed, ours ^ merged.write
        left = merged.base.left if is_coming else merged.base.left | changed
        state = {
            "ours": ours,
            "theirs": merged.write,
            "left": left & differs,
            "adding": Names(),
            "removing": Names(),
            "coming": changed if is_coming else Names(),
        }
        return await self.records.keep(merged.base.model_copy(update=state))

    async def _brought_back(
        self, names: Names, edit: ListEdit, agent: Agent, base: SkillListState
    ) -> Names:
        """Submit what the platform changed, name by name; return those that have been applied."""
        taken = set()
        for name in sorted(names):
            request = SkillListRequest(
                target_id=agent.id,
                skill_ids=(name,),
                edit=edit,
                reason=Message("platform.changed_there"),
            )
            about = text_hash("\0".join((agent.tenant_id, agent.id, edit, name)))
            context = SubmitContext(
                key=f"platform:{about}:{base.revision}",
                tenant_id=agent.tenant_id,
                agent_id=agent.id,
                origin=Origin.PERSON,
            )
            receipt = await self.gate.submit(request, context)
            if receipt.status in _TAKEN:
                taken.add(name)
            else:
                log.warning(
                    "platform.not_taken",
                    agent_id=agent.id,
                    tenant_id=agent.tenant_id,
                    skill=name,
                    status=receipt.status,
                    error=receipt.message,
                )
        return Names(taken)


def _touched(change: Change) -> Names:
    """Return the names that a change puts on lists or takes off."""
    if change.kind is Kind.SKILL:
        return Names({change.target_id})
    before, after = (
        set(state.content.splitlines()) if state else set()
        for state in (change.before, change.after)
    )
    return Names(before ^ after)
