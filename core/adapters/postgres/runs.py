"""What runs leave in PostgreSQL: candidates, events, model replies, and when they are pruned."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import LiteralString

import structlog
from psycopg.rows import DictRow
from psycopg.types.json import Jsonb
from pydantic import JsonValue, ValidationError

from core.adapters.postgres.answers import KEEP_SECONDS
from core.adapters.postgres.queries import (
    Connection,
    Pool,
    Statement,
    execute,
    fetch_all,
    fetch_one,
    recalled,
    send,
    send_later,
    sql,
    to_said,
    transaction,
    usage_of,
)
from core.agent.prices import UNBILLED, Billing
from core.changes.gate.receipts import receipt_of
from core.domain.errors import LeaseLost, NotFound
from core.domain.hashing import candidate_prefix, matching_prefix, pruned_key, reply_event
from core.domain.messages import Message
from core.domain.models import (
    NO_USAGE,
    AgentFeedback,
    Candidate,
    Change,
    Feedback,
    Fence,
    Receipt,
    RunEvent,
    Usage,
    Verdict,
)
from core.domain.models.deliveries import Route
from core.domain.models.recorded_runs import Fork
from core.domain.observers import nobody, nowhere
from core.domain.ports import NewId, Observer, Routes

log = structlog.get_logger(__name__)

_CANDIDATE = set(Candidate.model_fields) - {"usage"}


def candidate_of(row: DictRow) -> Candidate:
    """Build a candidate from a row; an unreadable verdict is dropped, to be reached again."""
    known = {key: value for key, value in row.items() if key in _CANDIDATE}
    known["verdict"] = _with_messages(row["verdict"], recalled(row["said"]))
    try:
        return Candidate.model_validate({**known, "usage": usage_of(row)})
    except ValidationError as error:
        log.warning("verdict.unreadable", candidate_id=known["id"], errors=error.error_count())
    return Candidate.model_validate({**known, "verdict": None, "usage": usage_of(row)})


def _with_messages(data: object, said: Mapping[str, Message]) -> object:
    """Return JSON with its texts as the messages that they were written from."""
    if isinstance(data, str):
        return said.get(data, data)
    if isinstance(data, list):
        return [_with_messages(part, said) for part in data]
    if isinstance(data, dict):
        return {key: _with_messages(value, said) for key, value in data.items()}
    return data


class PostgresJournal:
    """The `Journal` port; `observe` is called with each event once it is committed."""

    def __init__(
        self,
        pool: Pool,
        observe: Observer = nobody,
        billing: Billing = UNBILLED,
        routes: Routes = nowhere,
    ) -> None:
        self._pool = pool
        self._observe = observe
        self._billing = billing
        self._routes = routes

    async def emit(self, event: RunEvent, spent: Usage = NO_USAGE, *, waits: bool = False) -> None:
        done = partial(self._observe, event, spent)
        routes = self._routes(event)
        text, out = going_out("journal.pay" if spent.model_calls else "journal.emit", routes)
        params = {**event_row(event), **out}
        if spent.model_calls:
            params |= bill(self._billing, event.tenant_id, spent)
        lasts = bool(spent.model_calls or routes)
        written = Statement(text, params, lasts=lasts, done=done)
        await (send_later if waits else send)(self._pool, written)


async def write_event(conn: Connection, event: RunEvent, routes: Routes = nowhere) -> None:
    """Write an event, and what goes out of it, in the caller's transaction.

    It notifies when it commits; the caller then calls the observer.
    """
    text, out = going_out("journal.emit", routes(event))
    await conn.execute(text, {**event_row(event), **out, "alone": False})


def going_out(block: str, routes: Sequence[Route]) -> tuple[LiteralString, Mapping[str, object]]:
    """Return the statement that writes an event with its deliveries, and their parameters."""
    if not routes:
        return sql(block), {}
    text = sql(block).replace("/* what goes out */", sql("outbox.of_event"))
    return text, {"routes": Jsonb([route._asdict() for route in routes])}


def bill(billing: Billing, tenant_id: str | None, spent: Usage) -> dict[str, object]:
    """Return the parameters that charge a call to its tenant's day."""
    return {
        **spent.model_dump(),
        "tenant_id": tenant_id,
        "model": billing.model,
        "unpriced": billing.unpriced(spent),
    }


_COLUMNS = ("name", "tenant_id", "feedback_id", "candidate_id", "change_id")


def event_row(event: RunEvent) -> dict[str, object]:
    """Return an event as statement parameters, by column name."""
    return {**{name: getattr(event, name) for name in _COLUMNS}, "data": Jsonb(event.data)}


class PostgresReplies:
    """The `Replies` port; `observe` is told each reply's cost, even of one that came too late."""

    def __init__(self, pool: Pool, observe: Observer = nobody, billing: Billing = UNBILLED) -> None:
        self._pool = pool
        self._observe = observe
        self._billing = billing

    async def get(self, key: str, ordinal: int) -> tuple[JsonValue, Usage] | None:
        row = await fetch_one(self._pool, "replies.get", key=key, ordinal=ordinal)
        return (row["reply"], usage_of(row)) if row else None

    async def put(
        self, key: str, ordinal: int, reply: JsonValue, usage: Usage, *, tenant_id: str
    ) -> None:
        row = {"key": key, "ordinal": ordinal, "reply": Jsonb(reply)}
        params = {**row, **bill(self._billing, tenant_id, usage)}
        await execute(self._pool, "replies.put", **params)
        self._observe(reply_event(key, ordinal, usage), usage)

    async def usage(self, key_prefix: str) -> Usage:
        row = await fetch_one(self._pool, "replies.usage", key_prefix=key_prefix)
        return usage_of(row) if row else Usage()


class PostgresRuns:
    """The `Runs` port."""

    def __init__(self, pool: Pool, new_id: NewId) -> None:
        self._pool = pool
        self._new_id = new_id

    async def candidates(self, feedback_id: str) -> Sequence[Candidate]:
        rows = await fetch_all(self._pool, "runs.candidates", feedback_id=feedback_id)
        return [candidate_of(row) for row in rows]

    async def save_candidates(
        self, feedback: Feedback, parts: Sequence[AgentFeedback]
    ) -> Sequence[Candidate]:
        if not parts:
            return ()
        rows = await fetch_all(
            self._pool,
            "runs.save",
            feedback_id=feedback.id,
            tenant_id=feedback.tenant_id,
            generation=feedback.generation,
            parts=Jsonb([self._part(position, part) for position, part in enumerate(parts)]),
        )
        return [candidate_of(row) for row in rows]

    async def start(self, candidate: Candidate, generation: int) -> Candidate:
        row = await fetch_one(self._pool, "runs.start", id=candidate.id, generation=generation)
        if row is None:
            raise NotFound(Message("no.candidate", id=candidate.id))
        return candidate_of(row)

    async def finish(self, candidate: Candidate, verdict: Verdict) -> None:
        # Without what is as it is by default: the release before knows no `refused`.
        stored = Jsonb(verdict.model_dump(mode="json", exclude_defaults=True))
        said = to_said(*verdict.texts())
        params = {"id": candidate.id, "epoch": candidate.epoch, "verdict": stored, "said": said}
        (finished,) = await send(self._pool, Statement(sql("runs.finish"), params))
        if not finished.rowcount:
            raise lease_lost(candidate.id)

    async def check(self, fence: Fence) -> None:
        row = await fetch_one(self._pool, "runs.check", id=fence.candidate_id, epoch=fence.epoch)
        if row is None:
            raise lease_lost(fence.candidate_id)

    async def receipts(self, candidate_id: str) -> Sequence[Receipt]:
        rows = await fetch_all(self._pool, "runs.receipts", candidate_id=candidate_id)
        return [receipt_of(Change.model_validate(dict(row))) for row in rows]

    async def fork(self, thread: str) -> Fork | None:
        row = await fetch_one(self._pool, "run_records.fork", run=thread)
        return Fork.model_validate(row) if row else None

    def _part(self, position: int, part: AgentFeedback) -> dict[str, object]:
        return {
            **part.learning_candidate.model_dump(),
            "id": self._new_id(),
            "agent_id": part.agent_id,
            "agent_name": part.agent_name,
            "position": position,
        }


def lease_lost(candidate_id: str) -> LeaseLost:
    """Return the error that another worker has raised the candidate's epoch."""
    return LeaseLost(Message("lease.candidate", id=candidate_id))


BATCH = 500
FORGOTTEN_SECONDS = 30 * 86_400.0  # what waits this long is for a target that nobody has
_THREAD_BLOCKS = (
    "retention.drop_checkpoints",
    "retention.drop_checkpoint_blobs",
    "retention.drop_checkpoint_writes",
)


class PostgresRetention:
    """The `Retention` port. Each batch is a short transaction, so nobody waits for it."""

    def __init__(self, pool: Pool, *, batch: int = BATCH) -> None:
        self._pool = pool
        self._batch = batch

    async def prune(self, seconds: float) -> int:
        pruned = 0
        while done := await self._prune_batch(seconds):
            pruned += done
        if pruned:
            log.info("feedback.pruned", count=pruned)
        params = {"seconds": seconds, "limit": 10 * self._batch}
        await execute(self._pool, "retention.drop_events_of_nothing", **params)
        await execute(self._pool, "access.prune_tokens")
        await execute(self._pool, "outbox.prune", waits=max(seconds, FORGOTTEN_SECONDS), **params)
        await execute(self._pool, "access.prune_answers", keep_seconds=KEEP_SECONDS)
        return pruned

    async def _prune_batch(self, seconds: float) -> int:
        async with transaction(self._pool) as conn:
            acquired = await (await conn.execute(sql("retention.try_lock"))).fetchone()
            if not acquired or not acquired["acquired"]:
                return 0
            params = {"seconds": seconds, "limit": self._batch}
            ended = await (await conn.execute(sql("retention.ended"), params)).fetchall()
            if ended:
                await forget_runs(conn, ended)
            return len(ended)


async def forget_runs(conn: Connection, ended: Sequence[DictRow]) -> None:
    """Delete threads, replies and events of feedback (`id, generation, candidate_ids`)."""
    threads = {"threads": [thread for row in ended for thread in _threads(row)]}
    for block in _THREAD_BLOCKS:
        await conn.execute(sql(block), threads)
    feedback_ids = {"feedback_ids": [row["id"] for row in ended]}
    await conn.execute(sql("retention.drop_events"), feedback_ids)
    parts = [(pruned_key(row["id"]), prefix) for row in ended for prefix in _prefixes(row)]
    keys, prefixes = zip(*parts, strict=True)
    params = {"kept_keys": list(keys), "prefixes": list(prefixes)}
    await conn.execute(sql("retention.fold_replies"), params)
    await conn.execute(sql("retention.mark"), feedback_ids)


def _threads(row: DictRow) -> Iterator[str]:
    """Yield the threads that a piece may have had, in all its generations."""
    for candidate_id in row["candidate_ids"]:
        for generation in range(1, row["generation"] + 1):
            yield f"{candidate_prefix(candidate_id)}{generation}"


def _prefixes(row: DictRow) -> Iterator[str]:
    yield matching_prefix(row["id"])
    yield from map(candidate_prefix, row["candidate_ids"])
