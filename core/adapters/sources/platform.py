"""The platform's tables, as far as feedback needs them: one query per method."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum

import structlog
from pydantic import JsonValue

from core.adapters.sources.transport import BadValue, PostgrestTransport, UnknownColumn
from core.domain.errors import InvalidInput
from core.domain.input_formats.agents import checked_agent
from core.domain.models import Agent

FUNCTION = "agent_feedback_task"
EVENTS = 100
EVENT_ROWS = 10  # read by one call, since servers commonly answer with 1,000 records at most
CHUNK = 50  # ids per address, which proxies cut at 8 kB
_COLUMNS = "id,user_id,assignees,feedback,description,tenant_id"

log = structlog.get_logger(__name__)


class RowStatus(StrEnum):
    """`feedback_status` of a row; NULL counts as REQUESTED."""

    REQUESTED = "REQUESTED"
    STARTED = "STARTED"
    PROCESSING = "PROCESSING"
    COMPLETED = "COMPLETED"
    FAILED = "FAILED"


class Platform:
    """`todolist`, `users`, `events` and the function that claims rows."""

    def __init__(self, transport: PostgrestTransport) -> None:
        self._transport = transport

    async def ping(self) -> None:
        """Read one id, to see that the platform answers."""
        await self._transport.get("todolist", {"select": "id", "limit": "1"})

    async def claim(self, limit: int) -> Sequence[JsonValue]:
        """Move at most `limit` waiting rows to STARTED and return them."""
        return await self._transport.call(FUNCTION, {"p_limit": limit})

    async def started(self, limit: int) -> Sequence[JsonValue]:
        """Return rows in STARTED, least recently touched first."""
        wanted = {"select": f"{_COLUMNS},output", "feedback_status": f"eq.{RowStatus.STARTED}"}
        order = "updated_at.asc.nullsfirst"
        try:
            return await self._ordered("todolist", wanted, order, limit)
        except UnknownColumn:  # older platforms have no outputs
            return await self._ordered("todolist", {**wanted, "select": _COLUMNS}, order, limit)

    async def row(self, row_id: str) -> JsonValue:
        """Return one row, None if there is none."""
        wanted = {"select": _COLUMNS, "id": f"eq.{row_id}"}
        try:
            found = await self._transport.get("todolist", wanted)
        except BadValue:
            return None
        return found[0] if found else None

    async def move(
        self, row_ids: Sequence[str], to: RowStatus, among: Iterable[RowStatus]
    ) -> Sequence[JsonValue]:
        """Set the status of those rows whose status is `among`; return them as they are then.

        Raises RowRefused if one is refused; then no row of its chunk has moved.
        """
        moved: list[JsonValue] = []
        for chunk in _chunks(row_ids):
            filters = {
                "select": _COLUMNS,
                "id": _among(chunk),
                "feedback_status": _among(among),
            }
            moved += await self._transport.patch("todolist", filters, {"feedback_status": to})
        return moved

    async def agents(self, tenant_id: str, ids: Sequence[str]) -> Mapping[str, Agent]:
        """Return those of the ids that are agents of the tenant."""
        found = [await self._users(tenant_id, chunk) for chunk in _chunks(ids)]
        agents = (_agent(row, tenant_id) for rows in found for row in rows)
        return {agent.id: agent for agent in agents if agent}

    async def events(self, row_ids: Sequence[str]) -> Mapping[str, Sequence[JsonValue]]:
        """Return the newest events of at most `EVENT_ROWS` rows, oldest first, by row.

        One call reads those of all rows; where it may have been cut, the rows that have not got
        all of theirs are read one by one.
        """
        wanted = {"select": "*", "todo_id": _among(row_ids)}
        most = EVENTS * len(row_ids)
        try:
            newest = await self._ordered("events", wanted, "timestamp.desc", most)
        except BadValue:  # an id has another type there, so no event can name it
            return {row_id: await self.events_of(row_id) for row_id in row_ids}
        found: dict[str, list[JsonValue]] = {row_id: [] for row_id in row_ids}
        for event in reversed(newest):
            row_id = str(event.get("todo_id")) if isinstance(event, dict) else ""
            if row_id in found:
                found[row_id].append(event)
        # A server has a limit of its own too: a round number, as far as is known.
        if len(row_ids) > 1 and newest and len(newest) % EVENTS == 0:
            short = [row_id for row_id, events in found.items() if len(events) < EVENTS]
            found |= {row_id: [*await self.events_of(row_id)] for row_id in short}
        return {row_id: events[-EVENTS:] for row_id, events in found.items()}

    async def events_of(self, row_id: str) -> Sequence[JsonValue]:
        """Return the newest events of a row, oldest first."""
        wanted = {"select": "*", "todo_id": f"eq.{row_id}"}
        try:
            return [*reversed(await self._ordered("events", wanted, "timestamp.desc", EVENTS))]
        except BadValue:
            return []

    async def _users(self, tenant_id: str, ids: Sequence[str]) -> Sequence[JsonValue]:
        filters = {"select": "*", "id": _among(ids), "tenant_id": f"eq.{tenant_id}"}
        try:
            return await self._transport.get("users", filters)
        except BadValue:
            # Ids are UUIDs there and one of these is not: the others may be.
            if len(ids) == 1:
                return []
            return [row for one in ids for row in await self._users(tenant_id, [one])]

    async def _ordered(
        self, table: str, wanted: Mapping[str, str], order: str, limit: int
    ) -> Sequence[JsonValue]:
        """Read in an order, or by id if the table lacks that column."""
        params = {**wanted, "limit": str(limit)}
        try:
            return await self._transport.get(table, {**params, "order": order})
        except UnknownColumn:
            return await self._transport.get(table, {**params, "order": "id"})


def _agent(row: JsonValue, tenant_id: str) -> Agent | None:
    """Build an agent from a user; None if it is a person, or cannot be stored."""
    if not isinstance(row, dict) or row.get("is_agent", True) is not True:
        return None
    texts = {name: str(row.get(name) or "") for name in ("role", "goal", "persona")}
    agent_id = str(row.get("id") or "")
    given = {
        **texts,
        "id": agent_id,
        "tenant_id": str(row.get("tenant_id") or ""),
        "name": str(row.get("username") or agent_id),
        "skills": _skills(row.get("skills")),
    }
    try:
        agent = checked_agent(given)
    except InvalidInput as error:
        log.warning("agent.refused", agent_id=agent_id, tenant_id=tenant_id, error=error.message)
        return None
    return agent if agent.tenant_id == tenant_id else None


def _skills(value: JsonValue) -> list[str]:
    """Parse a list of names, or a comma-separated text."""
    names = value.split(",") if isinstance(value, str) else value
    if not isinstance(names, list):
        return []
    texts = (name.strip() for name in names if isinstance(name, str))
    return list(dict.fromkeys(text for text in texts if text))


def is_of(event: JsonValue, tenant_id: str) -> bool:
    """Whether an event is not another tenant's."""
    return not isinstance(event, dict) or event.get("tenant_id") in (None, tenant_id)


def _among(values: Iterable[str]) -> str:
    r"""Format PostgREST's `in`: each value in quotes, with `"` and `\` escaped by `\`."""
    escaped = (value.replace("\\", "\\\\").replace('"', '\\"') for value in values)
    return "in.(" + ",".join(f'"{value}"' for value in escaped) + ")"


def _chunks(ids: Sequence[str]) -> Iterable[Sequence[str]]:
    return (ids[start : start + CHUNK] for start in range(0, len(ids), CHUNK))
