"""Feedback of the existing platform: rows of `todolist`, over PostgREST (contracts, section 7)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

import structlog
from pydantic import JsonValue

from core.adapters.sources.platform import EVENT_ROWS, Platform, RowStatus, is_of
from core.adapters.sources.todo_rows import Item, TodoRow, read_row, row_id_of
from core.adapters.sources.transport import RowRefused, open_transport
from core.domain.errors import SourceDown
from core.domain.input_formats.text import json_problem
from core.domain.messages import Message, joined
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
T = TypeVar("T")
MOST_FAILURES = 3  # in a row, after which the platform counts as down


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
        """Claim rows; return what is new in these and in all that were left in STARTED.

        A row that cannot be read now is left in STARTED for the next fetch. Raises SourceDown if
        that is all there is to tell.
        """
        batch = _Batch()
        values = [*await self._platform.claim(limit)]
        values += await batch.call(lambda: self._platform.started(limit)) or []
        rows = _readable(values)
        standing = await self._standing(rows)
        fresh = []
        for row in rows:
            if row.problems:
                log.warning("row.refused", row_id=row.id, error=joined(row.problems))
            if _unknown(row, standing):
                fresh.append(row)
            else:
                await batch.call(partial(self._move_if_allowed, row, standing))
        fetched = await self._pieces(fresh, standing, batch)
        batch.note(is_in_vain=not fetched.pieces)
        return fetched

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

    async def _pieces(self, rows: Sequence[TodoRow], standing: Standing, batch: _Batch) -> Fetched:
        agents = await self._agents(rows, batch)
        events = await self._events([row for row in rows if row.tenant_id in agents], batch)
        given: list[tuple[Item, NewFeedback]] = []
        used: dict[tuple[str, str], Agent] = {}
        for row in rows:
            if row.id not in events:
                batch.left.append(row.id)
                continue
            own = _agents_of(row, agents[row.tenant_id])
            used.update(((agent.tenant_id, agent.id), agent) for agent in own)
            fit = [e for e in events[row.id] if is_of(e, row.tenant_id) and not json_problem(e)]
            new = _unknown(row, standing)
            given.extend((item, _piece(row, item, own, fit)) for item in new)
        given.sort(key=lambda pair: pair[0].at)
        return Fetched(agents=tuple(used.values()), pieces=tuple(piece for _, piece in given))

    async def _agents(
        self, rows: Sequence[TodoRow], batch: _Batch
    ) -> Mapping[str, Mapping[str, Agent]]:
        """Return the agents that rows name, by id, of each tenant that could be read."""
        named: dict[str, dict[str, None]] = {}
        for row in rows:
            of_tenant = named.setdefault(row.tenant_id, {})
            of_tenant.update(dict.fromkeys([*row.agent_ids, *row.assignee_ids]))
        found: dict[str, Mapping[str, Agent]] = {}
        for tenant_id, ids in named.items():
            agents = await batch.call(partial(self._platform.agents, tenant_id, list(ids)))
            if agents is not None:
                found[tenant_id] = agents
        return found

    async def _events(
        self, rows: Sequence[TodoRow], batch: _Batch
    ) -> Mapping[str, Sequence[JsonValue]]:
        """Return the events of each row of which they could be read, by row."""
        found: dict[str, Sequence[JsonValue]] = {}
        for start in range(0, len(rows), EVENT_ROWS):
            ids = [row.id for row in rows[start : start + EVENT_ROWS]]
            read = await batch.call(partial(self._platform.events, ids))
            if read is not None:
                found |= read
                continue
            for row_id in ids:  # one of them may be what cannot be read
                events = await batch.call(partial(self._platform.events_of, row_id))
                found |= {} if events is None else {row_id: events}
        return found


@dataclass
class _Batch:
    """The calls of one fetch: what fails holds nothing else, but an outage ends the fetch."""

    left: list[str] = field(default_factory=list)
    failure: SourceDown | None = None
    in_a_row: int = 0

    async def call(self, ask: Callable[[], Awaitable[T]]) -> T | None:
        """Return an answer, None if it cannot be had now."""
        if self.in_a_row >= MOST_FAILURES:
            return None
        try:
            answer = await ask()
        except SourceDown as error:
            self.failure, self.in_a_row = error, self.in_a_row + 1
            return None
        self.in_a_row = 0
        return answer

    def note(self, *, is_in_vain: bool) -> None:
        """Log what could not be read; raise why if nothing could."""
        if self.failure is None:
            return
        if is_in_vain:
            raise self.failure
        log.warning("rows.left", rows=len(self.left), error=self.failure.message)


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


def _agents_of(row: TodoRow, agents: Mapping[str, Agent]) -> Sequence[Agent]:
    """Return the agents that `user_id` names, else those of `assignees`."""
    for ids in (row.agent_ids, row.assignee_ids):
        found = [agents[id_] for id_ in ids if id_ in agents]
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
