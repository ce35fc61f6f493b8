"""The inbox in PostgreSQL: pieces with their jobs, what sources are told, and a person's hand."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import TypeAlias

import structlog
from psycopg.rows import DictRow
from psycopg.types.json import Jsonb
from pydantic import JsonValue, ValidationError

from core.adapters.postgres.jobs import Jobs, Waiting
from core.adapters.postgres.queries import (
    Connection,
    Pool,
    Statement,
    execute,
    fetch_all,
    fetch_one,
    findings_json,
    recalled,
    send,
    sql,
    to_said,
    transaction,
    usage_of,
)
from core.adapters.postgres.runs import write_event
from core.domain import tracing
from core.domain.errors import InvalidInput, LeaseLost, NotFound, Refused
from core.domain.hashing import matching_prefix
from core.domain.input_formats.feedback import feedback_digest
from core.domain.messages import Message, term, without_content
from core.domain.models import (
    NO_USAGE,
    Agent,
    Feedback,
    FeedbackStatus,
    MaskedFeedback,
    NewFeedback,
    Outcome,
    Outline,
    Pause,
    PauseKind,
    RunEvent,
)
from core.domain.models.feedback import refuse_reserved
from core.domain.models.findings import counted
from core.domain.models.recorded_runs import Fork
from core.domain.observers import nobody, nowhere
from core.domain.ports import NewId, Observer, Routes
from core.domain.tasks import over_all_tenants
from core.safety.masking import mask, masked_feedback

_FEEDBACK = set(Feedback.model_fields) - {"usage"}
# Stand-ins for columns that cannot be read. All others are safe by their type.
_BLANK: dict[str, object] = {"agent_ids": (), "events": (), "trace": None}


def feedback_of(row: DictRow) -> Feedback:
    """Build feedback from a row; unreadable columns are left out and named in its error."""
    feedback, problem = read_feedback(row)
    if problem is None:
        return feedback
    return feedback.model_copy(update={"error": feedback.error or problem})


def read_feedback(row: DictRow) -> tuple[Feedback, str | None]:
    """Build feedback from a row without unreadable columns; return what is wrong with them too.

    Internal columns are left out.
    """
    known = {key: value for key, value in row.items() if key in _FEEDBACK}
    known["error"] = recalled(row["said"]).get(row["error"], row["error"])
    try:
        return Feedback.model_validate({**known, "usage": usage_of(row)}), None
    except ValidationError as error:
        bad = {str(problem["loc"][0]): problem["msg"] for problem in error.errors()}
    blank = {column: _BLANK[column] for column in bad if column in _BLANK}
    feedback = Feedback.model_validate({**known, **blank, "usage": usage_of(row)})
    return feedback, "; ".join(f"column {name} cannot be read: {bad[name]}" for name in bad)


async def end_feedback_of_change(conn: Connection, change_id: str, feedback_id: str | None) -> None:
    """End the feedback behind a change, and all that repeated it while it was held."""
    rows = await (
        await conn.execute(sql("duplicate_waiters.of_change"), {"change_id": change_id})
    ).fetchall()
    pieces = {feedback_id, *(row["feedback_id"] for row in rows)} - {None}
    for piece in sorted(map(str, pieces)):  # in a fixed order, since each is locked
        await end_held_feedback(conn, piece)


async def end_held_feedback(
    conn: Connection, feedback_id: str, *, waits_for_nothing: bool = False
) -> None:
    """End held feedback with its outcome, once none of its changes is held any more.

    Of two concurrent decisions the second sees, after the lock, what the first has done. With
    `waits_for_nothing` it ends even if none of its changes was ever held.
    """
    params = {"feedback_id": feedback_id, "waits_for_nothing": waits_for_nothing}
    await conn.execute(sql("reviews.lock_feedback"), params)
    await conn.execute(sql("reviews.end_held_feedback"), params)


log = structlog.get_logger(__name__)

_Piece: TypeAlias = dict[str, object]
# Takes more out of a piece before it is stored. Raises ScreenDown.
MaskMore = Callable[[MaskedFeedback], Awaitable[MaskedFeedback]]


class PostgresInbox:
    """The `Inbox` port; `observe` is called with each event once it is committed."""

    def __init__(
        self,
        pool: Pool,
        jobs: Jobs,
        new_id: NewId,
        observe: Observer = nobody,
        routes: Routes = nowhere,
        *,
        keeps_raw: bool = False,
        mask_more: MaskMore | None = None,
    ) -> None:
        self._pool = pool
        self._routes = routes
        self._jobs = jobs
        self._new_id = new_id
        self._observe = observe
        self._keeps_raw = keeps_raw
        self._mask_more = mask_more

    async def masked(self, piece: NewFeedback) -> MaskedFeedback:
        if self._keeps_raw:
            return MaskedFeedback(**dict(piece))
        made = masked_feedback(piece)
        if self._mask_more is None or made is piece:  # masked before
            return made
        return await self._mask_more(made)

    async def add(self, source: str, pieces: Sequence[NewFeedback]) -> Sequence[tuple[str, bool]]:
        for agent_id in {name for piece in pieces for name in piece.agent_ids}:
            refuse_reserved(agent_id)
        masked = [await self.masked(piece) for piece in pieces]
        rows = [self._row(position, piece) for position, piece in enumerate(masked)]
        events: list[RunEvent] = []
        async with _over_tenants(self._pool) as conn:
            added = await self._add(conn, source, rows, events)
        for event in events:
            log.warning(event.name, feedback_id=event.feedback_id, **event.data)
            self._observe(event, NO_USAGE)
        return added

    async def add_first(self, source: str, piece: NewFeedback, agent: Agent) -> bool:
        stated = agent.picked("tenant_id", "id", "role", "goal", "persona")
        masked = await self.masked(piece)
        async with _over_tenants(self._pool) as conn:
            claimed = await conn.execute(sql("agents.setup_claimed"), stated)
            if not claimed.rowcount:
                return False
            row = self._row(0, masked)
            ((_, is_new),) = await self._add(conn, source, [row], [])
            return is_new

    async def get(self, feedback_id: str) -> Feedback:
        row = await fetch_one(self._pool, "inbox.get", id=feedback_id)
        if row is None:
            raise not_found(feedback_id)
        return feedback_of(row)

    async def claim(self, feedback_id: str) -> Feedback | None:
        """Start an attempt: attempts and epoch + 1. None if it has ended or is gone.

        A row that cannot be read ends at once as `failed`.
        """
        row = await fetch_one(self._pool, "inbox.claim", id=feedback_id)
        if row is None:
            return None
        feedback, problem = read_feedback(row)
        if problem is None:
            return feedback
        await self._end_unreadable(feedback, problem)
        return None

    async def give_back(
        self, claimed: Feedback, error: str, delay: float, *, counts: bool = True
    ) -> None:
        params = {"id": claimed.id, "epoch": claimed.epoch, "delay": delay}
        params |= {"error": error, "said": to_said(error)}
        async with _over_tenants(self._pool) as conn:
            # Handed back at once, as at shutdown, it keeps its turn.
            turn = await self._jobs.turn(conn) if delay > 0 else 0
            given = {**params, "counts": counts, "turn": turn}
            done = await conn.execute(sql("inbox.give_back"), given)
            row = await done.fetchone()
            if row is None:
                raise lease_lost(claimed)
            waiting = Waiting(claimed.id, row["turn"])
            await self._jobs.defer(conn, [waiting], due=row["retry_at"])
            if row["retry_at"] is not None:
                await release_waiting(conn, self._jobs, claimed.id)

    async def earlier(self, claimed: Feedback, limit: int) -> Sequence[Outline]:
        return await self._beside("inbox.earlier", claimed, limit)

    async def passed_over(self, claimed: Feedback, limit: int) -> Sequence[Outline]:
        return await self._beside("inbox.passed_over", claimed, limit)

    async def _beside(self, block: str, claimed: Feedback, limit: int) -> Sequence[Outline]:
        of = claimed.picked("id", "source_id", "tenant_id", "said_at", "created_at")
        of |= {"agent_ids": list(claimed.agent_ids), "limit": limit}
        return [Outline(**row) for row in await fetch_all(self._pool, block, **of)]

    async def wait_for(self, claimed: Feedback, earlier_id: str) -> bool:
        params = {"id": claimed.id, "epoch": claimed.epoch, "earlier_id": earlier_id}
        async with transaction(self._pool) as conn:
            row = await (await conn.execute(sql("inbox.lock_earlier"), params)).fetchone()
            if row is None or not row["is_ahead"]:
                return False
            if not (await conn.execute(sql("inbox.wait_for"), params)).rowcount:
                raise lease_lost(claimed)
        return True

    async def finish(self, claimed: Feedback, outcome: Outcome) -> None:
        end = Statement(sql("inbox.finish"), end_params(claimed.id, claimed.epoch, outcome))
        release = Statement(sql("inbox.release_waiting"), {"id": claimed.id})
        if outcome.status is FeedbackStatus.HELD:
            async with transaction(self._pool) as conn:
                if not (await conn.execute(*end[:2])).rowcount:
                    raise lease_lost(claimed)
                await end_held_feedback(conn, claimed.id)  # all its changes may be decided by now
                released = await conn.execute(*release[:2])
        else:
            ended, released = await send(self._pool, end, release)
            if not ended.rowcount:
                raise lease_lost(claimed)
        # Not in one transaction, which costs two trips for each piece: what is left without a job
        # by a failure in between is found by the next reconciliation.
        if rows := await released.fetchall():
            async with transaction(self._pool) as conn:
                await self._jobs.defer(conn, [Waiting(row["id"], row["turn"]) for row in rows])

    async def _add(
        self, conn: Connection, source: str, rows: Sequence[_Piece], events: list[RunEvent]
    ) -> Sequence[tuple[str, bool]]:
        """Store what is new; `events` receives those that were written with it."""
        params = {"source": source, "pieces": Jsonb(rows), "turn": await self._jobs.turn(conn)}
        inserted = await (await conn.execute(sql("inbox.add"), params)).fetchall()
        turns = {row["id"]: row["turn"] for row in inserted}
        events += [_redated(row) for row in inserted if row["claimed_said_at"]]
        events += [_masked(row) for row in inserted if row["masked"]]
        for event in events:
            await write_event(conn, event, self._routes)
        new = [str(row["id"]) for row in rows if row["id"] in turns]
        await self._jobs.defer(conn, [Waiting(key, turns[key]) for key in new])
        known = await _known(conn, source, [row for row in rows if row["id"] not in turns])
        ids = [str(row["id"]) for row in rows]
        sources = [str(row["source_id"]) for row in rows]
        return [(known.get(key, id_), id_ in turns) for key, id_ in zip(sources, ids, strict=True)]

    async def _end_unreadable(self, feedback: Feedback, problem: str) -> None:
        outcome = Outcome(status=FeedbackStatus.FAILED, error=problem)
        event = RunEvent(
            name="feedback.finished",
            tenant_id=feedback.tenant_id,
            feedback_id=feedback.id,
            data={"status": outcome.status, "error": without_content(problem)},
        )
        async with transaction(self._pool) as conn:
            params = end_params(feedback.id, feedback.epoch, outcome)
            await conn.execute(sql("inbox.finish"), params)
            await write_event(conn, event, self._routes)
        self._observe(event, NO_USAGE)

    def _row(self, position: int, piece: MaskedFeedback) -> _Piece:
        feedback_id = self._new_id()
        trace = tracing.current()
        return {
            **piece.model_dump(exclude={"id", "masked"}),
            "masked": findings_json(piece.masked),
            "said_at": piece.said_at and piece.said_at.isoformat(),
            "id": feedback_id,
            "source_id": feedback_id if piece.id is None else piece.id,
            "digest": feedback_digest(piece),
            "place": position,
            "trace": trace and trace.model_dump(),
        }


@asynccontextmanager
async def _over_tenants(pool: Pool) -> AsyncIterator[Connection]:
    """Open a transaction that sees all tenants: turns, and the ids of a source, are common."""
    with over_all_tenants():
        async with transaction(pool) as conn:
            yield conn


async def release_waiting(conn: Connection, jobs: Jobs, feedback_id: str) -> None:
    """Defer the jobs of what waited for a piece that was said before it."""
    rows = await (await conn.execute(sql("inbox.release_waiting"), {"id": feedback_id})).fetchall()
    await jobs.defer(conn, [Waiting(row["id"], row["turn"]) for row in rows])


def _redated(row: DictRow) -> RunEvent:
    times = {name: row[name].isoformat() for name in ("claimed_said_at", "said_at")}
    return RunEvent(
        name="feedback.redated",
        tenant_id=row["tenant_id"],
        feedback_id=row["id"],
        data={**times},
    )


def _masked(row: DictRow) -> RunEvent:
    """Return the event that something was masked in a piece: what kinds, never the text."""
    # A list: the log masks a value behind a name like that of a secret, also a count.
    counts: list[JsonValue] = [*counted(str(finding["code"]) for finding in row["masked"])]
    return RunEvent(
        name="feedback.masked",
        tenant_id=row["tenant_id"],
        feedback_id=row["id"],
        data={"masked": counts},
    )


def end_params(feedback_id: str, epoch: int, outcome: Outcome) -> dict[str, object]:
    """Return the parameters of `inbox.finish`."""
    return {
        "id": feedback_id,
        "epoch": epoch,
        "status": outcome.status,
        "error": outcome.error,
        "said": to_said(outcome.error),
        "matching": matching_prefix(feedback_id),
    }


async def _known(conn: Connection, source: str, rows: Sequence[_Piece]) -> Mapping[str, str]:
    """Return the ids of known pieces, after checking that their content is the same."""
    if not rows:
        return {}
    params = {"source": source, "source_ids": [row["source_id"] for row in rows]}
    stored = await (await conn.execute(sql("inbox.known"), params)).fetchall()
    found = {row["source_id"]: row for row in stored}
    for row in rows:
        if found[row["source_id"]]["digest"] != row["digest"]:
            raise InvalidInput(
                Message("feedback.other_content", id=str(row["source_id"]), source=source),
                hint=Message("feedback.id_of_its_own"),
            )
    return {source_id: str(row["id"]) for source_id, row in found.items()}


def lease_lost(claimed: Feedback) -> LeaseLost:
    """Return the error that a piece is no longer its claimer's."""
    return LeaseLost(Message("lease.feedback", id=claimed.id))


def not_found(feedback_id: str) -> NotFound:
    """Return the error that there is no such piece."""
    return NotFound(Message("no.feedback", id=feedback_id), hint=Message("see.feedback"))


class PostgresDeliveries:
    """The `Deliveries` port."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def known(self, source: str, source_ids: Sequence[str]) -> Mapping[str, FeedbackStatus]:
        ids = list(source_ids)
        rows = await fetch_all(self._pool, "deliveries.known", source=source, source_ids=ids)
        return {row["source_id"]: FeedbackStatus(row["status"]) for row in rows}

    async def unacknowledged(self, source: str, limit: int) -> Sequence[Feedback]:
        rows = await fetch_all(self._pool, "deliveries.unacknowledged", source=source, limit=limit)
        return [feedback_of(row) for row in rows]

    async def acknowledged(self, ended: Feedback) -> None:
        end = ended.picked("id", "generation", "epoch", "status")
        await execute(self._pool, "deliveries.acknowledged", **end)


class PostgresIntake:
    """The `Intake` port; `observe` is called with each event once it is committed."""

    def __init__(
        self,
        pool: Pool,
        jobs: Jobs,
        observe: Observer = nobody,
        routes: Routes = nowhere,
        *,
        keeps_raw: bool = False,
    ) -> None:
        self._pool = pool
        self._routes = routes
        self._jobs = jobs
        self._observe = observe
        self._keeps_raw = keeps_raw

    async def revive(self, feedback_id: str, *, fork: Fork | None = None) -> Feedback:
        async with _over_tenants(self._pool) as conn:
            params = {"id": feedback_id, "turn": await self._jobs.turn(conn)}
            row = await (await conn.execute(sql("intake.revive"), params)).fetchone()
            is_due = fork is None or (row and fork.run.endswith(f":{row['generation']}"))
            if row is None or not is_due:
                raise await _refusal(
                    conn,
                    feedback_id,
                    Message("feedback.not_ended"),
                    Message("feedback.hint_ended"),
                )
            await conn.execute(sql("intake.reset_verdicts"), params)
            if fork is not None:
                told = {"tenant_id": row["tenant_id"], "feedback_id": feedback_id}
                await conn.execute(sql("run_records.add_fork"), {**told, **fork.model_dump()})
            await self._jobs.defer(conn, [Waiting(feedback_id, row["turn"])])
        return feedback_of(row)

    async def cancel(self, feedback_id: str, reason: str) -> Feedback:
        params = {"id": feedback_id}
        reason = reason if self._keeps_raw else mask(reason).text
        async with transaction(self._pool) as conn:
            taken = await (await conn.execute(sql("intake.take_off"), params)).fetchone()
            if taken is None:
                raise await _refusal(
                    conn,
                    feedback_id,
                    Message("feedback.ended"),
                    Message("see.piece"),
                )
            await conn.execute(sql("intake.fence"), params)
            await conn.execute(sql("intake.drop_job"), taken)
            outcome = Outcome(status=FeedbackStatus.CANCELLED, error=reason)
            ending = end_params(feedback_id, taken["epoch"], outcome)
            await conn.execute(sql("inbox.finish"), ending)
            await release_waiting(conn, self._jobs, feedback_id)
            row = await (await conn.execute(sql("inbox.get"), params)).fetchone()
            assert row is not None
            event = _cancelled(row["tenant_id"], feedback_id, reason)
            await write_event(conn, event, self._routes)
        self._observe(event, NO_USAGE)
        return feedback_of(row)

    async def pause(self, reason: str) -> Pause:
        reason = reason if self._keeps_raw else mask(reason).text
        async with transaction(self._pool) as conn:
            row = await (await conn.execute(sql("intake.pause"), {"reason": reason})).fetchone()
            assert row is not None
            event = RunEvent(name="queue.paused", data={"reason": reason})
            await write_event(conn, event, self._routes)
        self._observe(event, NO_USAGE)
        return Pause(kind=PauseKind.PAUSED, **row)

    async def resume(self) -> bool:
        event = RunEvent(name="queue.resumed")
        async with transaction(self._pool) as conn:
            paused = bool((await conn.execute(sql("intake.resume"))).rowcount)
            if paused:
                await write_event(conn, event, self._routes)
        if paused:
            self._observe(event, NO_USAGE)
        return paused

    async def paused(self) -> Pause | None:
        row = await fetch_one(self._pool, "intake.paused")
        return Pause(kind=PauseKind.PAUSED, **row) if row else None


async def _refusal(conn: Connection, feedback_id: str, what: str, hint: str) -> Exception:
    row = await (await conn.execute(sql("inbox.get"), {"id": feedback_id})).fetchone()
    if row is None:
        return not_found(feedback_id)
    return Refused(
        Message("feedback.state", id=feedback_id, what=what, status=term(row["status"])),
        hint=hint,
    )


def _cancelled(tenant_id: str, feedback_id: str, reason: str) -> RunEvent:
    return RunEvent(
        name="feedback.cancelled",
        tenant_id=tenant_id,
        feedback_id=feedback_id,
        data={"error": reason},
    )
