"""Feedback of the existing platform: rows of `todolist`, over PostgREST (contracts, section 7)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager

import structlog
from pydantic import JsonValue

from core.adapters.sources.platform import Platform, RowStatus
from core.adapters.sources.todo_rows import Item, TodoRow, read_row, row_id_of
from core.adapters.sources.transport import RowRefused, open_transport
from core.domain.input_formats.text import json_problem
from core.domain.messages import Message
from core.domain.models import Agent, FeedbackStatus, Fetched, NewFeedback, Outcome
from core.domain.ports import Deliveries

log = structlog.get_logger(__name__)

NAME = "supabase"
_OPEN = (RowStatus.STARTED,)
# A waiting row (NULL, REQUESTED) is left as it is: the next claim reads all of it.
_TAKEN = (RowStatus.STARTED, RowStatus.PROCESSING, RowStatus.COMPLETED, RowStatus.FAILED)
# A row in STARTED needs no request: the next fetch reads it.
_PAST = (RowStatus.PROCESSING, RowStatus.COMPLETED, RowStatus.FAILED)
_FAILURES = frozenset({FeedbackStatus.FAILED, FeedbackStatus.DEAD})

Standing = Mapping[str, FeedbackStatus]


class PostgrestSource:
    """The port `FeedbackSource`: every item of a row is a piece of feedback.

    Rows in STARTED are read no matter who claimed them, for that worker may be dead. This is safe:
    pieces are identified by their ids, and only unknown ones are returned.
    """

    name = NAME

    def __init__(self, platform: Platform, deliveries: Deliveries) -> None:
        self._platform = platform
        self._deliveries = deliveries

    async def fetch(self, limit: int) -> Fetched:
        """Claim rows; return what is new in these and in all that were left in STARTED."""
        values = [*await self._platform.claim(limit), *await self._platform.started(limit)]
        rows = _readable(values)
        standing = await self._standing(rows)
        fresh = []
        for row in rows:
            if row.problems:
                log.warning("row.refused", row_id=row.id, error="; ".join(row.problems))
            if _unknown(row, standing):
                fresh.append(row)
            else:
                await self._move_if_allowed(row, standing)
        return await self._pieces(fresh, standing)

    async def accept(self, pieces: Sequence[NewFeedback]) -> None:
        """Move the rows of stored pieces to PROCESSING."""
        row_ids = list(dict.fromkeys(row_id_of(piece.id) for piece in pieces if piece.id))
        try:
            await self._platform.move(row_ids, RowStatus.PROCESSING, _OPEN)
        except RowRefused:  # one by one, so that a refused row does not block the others
            for row_id in row_ids:
                await self._begin_if_allowed(row_id)

    async def acknowledge(self, source_id: str, outcome: Outcome) -> None:
        """Set the row's final status if this was its last piece; request what was added since."""
        row = read_row(await self._platform.row(row_id_of(source_id)))
        if row is not None:
            ended = {source_id: outcome.status}
            await self._move_to_standing(row, {**ended, **await self._standing([row])})

    async def ping(self) -> None:
        """Read one id of the platform."""
        await self._platform.ping()

    async def _standing(self, rows: Sequence[TodoRow]) -> Standing:
        ids = [item.id for row in rows for item in row.items]
        return await self._deliveries.known(self.name, ids) if ids else {}

    async def _begin_if_allowed(self, row_id: str) -> None:
        try:
            await self._platform.move([row_id], RowStatus.PROCESSING, _OPEN)
        except RowRefused as error:
            log.warning("row.refused", row_id=row_id, error=error.message)

    async def _move_if_allowed(self, row: TodoRow, standing: Standing) -> None:
        try:
            await self._move_to_standing(row, standing)
        except RowRefused as error:
            log.warning("row.refused", row_id=row.id, error=error.message)

    async def _move_to_standing(self, row: TodoRow, standing: Standing) -> None:
        """Move a row to the status that its pieces imply. Idempotent."""
        status = _status_of(row, standing)
        if status is RowStatus.PROCESSING:
            await self._platform.move([row.id], status, _OPEN)
        elif status is RowStatus.REQUESTED:
            await self._platform.move([row.id], status, _PAST)
        else:
            moved = _readable(await self._platform.move([row.id], status, _TAKEN))
            if any(_unknown(after, standing) for after in moved):
                # It was added after the row was read, and would be lost behind the final status.
                await self._platform.move([row.id], RowStatus.REQUESTED, _PAST)

    async def _pieces(self, rows: Sequence[TodoRow], standing: Standing) -> Fetched:
        agents = await self._agents(rows)
        given: list[tuple[Item, NewFeedback]] = []
        used: dict[tuple[str, str], Agent] = {}
        for row in rows:
            own = _agents_of(row, agents)
            used.update(((agent.tenant_id, agent.id), agent) for agent in own)
            events = await self._events(row)
            new = _unknown(row, standing)
            given.extend((item, _piece(row, item, own, events)) for item in new)
        given.sort(key=lambda pair: pair[0].at)
        return Fetched(agents=tuple(used.values()), pieces=tuple(piece for _, piece in given))

    async def _agents(self, rows: Sequence[TodoRow]) -> Mapping[tuple[str, str], Agent]:
        """Return the agents that rows name, by tenant and id."""
        named: dict[str, dict[str, None]] = {}
        for row in rows:
            of_tenant = named.setdefault(row.tenant_id, {})
            of_tenant.update(dict.fromkeys([*row.agent_ids, *row.assignee_ids]))
        found: dict[tuple[str, str], Agent] = {}
        for tenant_id, ids in named.items():
            agents = await self._platform.agents(tenant_id, list(ids))
            found.update(((tenant_id, agent_id), agent) for agent_id, agent in agents.items())
        return found

    async def _events(self, row: TodoRow) -> Sequence[JsonValue]:
        events = await self._platform.events(row.id, row.tenant_id)
        return [event for event in events if not json_problem(event)]


@asynccontextmanager
async def open_platform(url: str, key: str) -> AsyncIterator[Platform]:
    """Open the platform at SUPABASE_URL. Raises ConfigurationError for a bad URL or key."""
    async with open_transport(url, key) as transport:
        yield Platform(transport)


def _readable(values: Sequence[JsonValue]) -> Sequence[TodoRow]:
    """Return each row once; one without an id cannot even be reported as broken."""
    rows: dict[str, TodoRow] = {}
    for value in values:
        row = read_row(value)
        if row is None:
            log.warning("row.refused", row_id=None, error=Message("row.no_id"))
        else:
            rows.setdefault(row.id, row)
    return list(rows.values())


def _unknown(row: TodoRow, standing: Standing) -> Sequence[Item]:
    return [item for item in row.items if item.id not in standing]


def _status_of(row: TodoRow, standing: Standing) -> RowStatus:
    """Return a row's status: final once all pieces are known and ended, and the source told."""
    reached = [standing[item.id] for item in row.items if item.id in standing]
    if not all(status.is_end for status in reached):
        return RowStatus.PROCESSING
    if _unknown(row, standing):
        return RowStatus.REQUESTED
    failed = row.problems or not _FAILURES.isdisjoint(reached)
    return RowStatus.FAILED if failed else RowStatus.COMPLETED


def _agents_of(row: TodoRow, agents: Mapping[tuple[str, str], Agent]) -> Sequence[Agent]:
    """Return the agents that `user_id` names, else those of `assignees`."""
    for ids in (row.agent_ids, row.assignee_ids):
        found = [agents[key] for id_ in ids if (key := (row.tenant_id, id_)) in agents]
        if found:
            return found
    return ()


def _piece(
    row: TodoRow, item: Item, agents: Sequence[Agent], events: Sequence[JsonValue]
) -> NewFeedback:
    """Build a piece. If no agent was found it names those of the row, and fails because of that."""
    return NewFeedback(
        id=item.id,
        tenant_id=row.tenant_id,
        agent_ids=tuple(agent.id for agent in agents) or row.agent_ids or row.assignee_ids,
        task=row.task,
        content=item.content,
        author=item.author,
        events=tuple(events),
        said_at=item.said_at,
        in_reply_to=item.answers,
        thread=f"{NAME}:{row.id}",
        output=row.output,
    )
