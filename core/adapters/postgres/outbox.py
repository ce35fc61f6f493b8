"""The outbox in PostgreSQL; deliveries are written with their events, in `runs.py`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from psycopg.rows import DictRow
from psycopg.types.json import Jsonb
from pydantic import BaseModel

from core.adapters.postgres.feed import event_of
from core.adapters.postgres.queries import (
    Pool,
    connection,
    execute,
    fetch_all,
    fetch_one,
    recalled,
    sql,
    to_said,
    transaction,
)
from core.adapters.postgres.runs import write_event
from core.domain.errors import NotFound, Refused
from core.domain.messages import Message
from core.domain.models import NO_USAGE, RunEvent
from core.domain.models.deliveries import (
    Attempt,
    Delivered,
    Delivery,
    DeliveryFilter,
    DeliveryStatus,
    HookAnswer,
    HookSaid,
    Outcome,
    Sent,
    Settled,
    TargetState,
)
from core.domain.observers import nobody, nowhere
from core.domain.paging import Position, decode_cursor, encode_cursor, query_digest
from core.domain.ports import Observer, Routes, Target
from core.domain.ports.deliveries import BEFORE

# After so many failures in a row a target rests: at first half a minute, then ever longer.
MANY, FIRST_REST, LONGEST_REST = 5, 30.0, 900.0
ENDS = 100  # that are told at a time
_FAILED = {Outcome.LATER, Outcome.GONE}
_CONDITIONS = {
    "statuses": "outbox.of_statuses",
    "tenant_id": "reads.of_tenant",
    "target": "outbox.to_target",
    "feedback_id": "reads.of_feedback",
    "change_id": "outbox.of_change",
}
_COLUMNS = set(Delivery.model_fields)


class PostgresOutbox:
    """The `Outbox` port; `observe` is called with each event once it is committed."""

    def __init__(self, pool: Pool, observe: Observer = nobody, routes: Routes = nowhere) -> None:
        self._pool = pool
        self._observe = observe
        self._routes = routes

    async def claim(self, targets: Mapping[str, Target], now: datetime) -> Sequence[Delivery]:
        params: dict[str, object] = {
            "names": [*targets],
            "digests": [target.digest for target in targets.values()],
            "untils": [now + timedelta(seconds=target.lease) for target in targets.values()],
        }
        params |= {"now": now, "many": MANY}
        async with connection(self._pool) as conn:
            rows = await (await conn.execute(sql("outbox.claim"), params)).fetchall()
        return [_delivery(row) for row in sorted(rows, key=lambda row: int(row["seq"]))]

    async def settle(self, delivery: Delivery, ended: Settled, digest: str) -> int:
        ended_at = ended.began + timedelta(seconds=ended.seconds)
        is_gone = ended.sent.outcome is Outcome.GONE
        params = {
            "id": delivery.id,
            "target": delivery.target,
            "ordinal": delivery.attempts,
            "due_at": ended.due_at,
            "rests_until": ended.rests_until,
            "disabled_at": ended_at if is_gone else None,
            "failed": ended.sent.outcome in _FAILED,
            "digest": digest,
            "many": MANY,
            "first": FIRST_REST,
            "longest": LONGEST_REST,
            **_ending(ended.status, ended.sent, ended.began, ended.seconds),
        }
        row = await fetch_one(self._pool, "outbox.settle", **params)
        return int(row["failures"]) if row else 0

    async def record(self, answered: Sequence[tuple[Delivery, Sent, float]]) -> None:
        async with transaction(self._pool) as conn, conn.pipeline():
            for delivery, sent, seconds in answered:
                given = delivery.picked(
                    "tenant_id", "target", "event", "subject", "feedback_id", "change_id"
                )
                given |= {"once_key": delivery.subject or None, "payload": _json(delivery.payload)}
                given |= _ending(delivery.status, sent, delivery.created_at, seconds)
                await conn.execute(sql("outbox.record"), given)

    async def tell_ends(self, seconds: float) -> int:
        async with transaction(self._pool) as conn:
            acquired = await (await conn.execute(sql("outbox.lock_ends"))).fetchone()
            if not acquired or not acquired["acquired"]:
                return 0
            params = {"seconds": seconds, "limit": ENDS}
            rows = await (await conn.execute(sql("outbox.untold_ends"), params)).fetchall()
            events = [_end(row) for row in rows]
            for event in events:
                await write_event(conn, event, self._routes)
        for event in events:
            self._observe(event, NO_USAGE)
        return len(events)

    async def answered(self, target: str, once_key: str) -> HookAnswer | None:
        row = await fetch_one(self._pool, "outbox.answered", target=target, once_key=once_key)
        return HookAnswer.model_validate(row["answer"] or {}) if row else None


def _ending(
    status: DeliveryStatus, sent: Sent, began: datetime, seconds: float
) -> dict[str, object]:
    error = None if status is DeliveryStatus.DELIVERED else sent.error
    return {
        "status": status,
        "word": sent.status,
        "error": error,
        "said": to_said(error),
        "answer": _json(sent.answer),
        "at": began,
        "ended_at": began + timedelta(seconds=seconds),
        "seconds": round(seconds, 3),
    }


def _json(value: BaseModel | None) -> Jsonb | None:
    return None if value is None else Jsonb(value.model_dump(mode="json", exclude_none=True))


def _end(row: DictRow) -> RunEvent:
    return RunEvent(
        name="feedback.finished",
        tenant_id=row["tenant_id"],
        feedback_id=row["id"],
        data={"status": row["status"], "error": row["error"]},
    )


class PostgresDeliveryLog:
    """The `DeliveryLog` port."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def page(
        self, wanted: DeliveryFilter, *, limit: int, cursor: str | None
    ) -> tuple[Sequence[Delivery], str | None]:
        digest = query_digest("deliveries", wanted)
        after = decode_cursor(cursor, digest) if cursor else None
        asked = [block for name, block in _CONDITIONS.items() if getattr(wanted, name)]
        query = sql("outbox.page").replace("/* asked for */", " ".join(map(sql, asked)))
        params = {**wanted.model_dump(), "statuses": [*wanted.statuses], "limit": limit + 1}
        params |= {"at": after.at if after else "infinity", "id": after.id if after else ""}
        async with connection(self._pool) as conn:
            rows = await (await conn.execute(query, params)).fetchall()
        page = [_delivery(row) for row in rows[:limit]]
        if len(rows) <= limit:
            return page, None
        return page, encode_cursor(Position(page[-1].created_at, page[-1].id), digest)

    async def get(self, delivery_id: str) -> Delivered:
        row = await fetch_one(self._pool, "outbox.get", id=delivery_id)
        if row is None:
            raise _unknown(delivery_id)
        tried = await fetch_all(self._pool, "outbox.attempts", id=delivery_id)
        attempts = tuple(Attempt.model_validate(_with_error(one)) for one in tried)
        return Delivered(delivery=_delivery(row), attempts=attempts)

    async def replay(self, delivery_id: str) -> Delivery:
        known = await self.get(delivery_id)
        if known.delivery.event == BEFORE:
            raise Refused(
                Message("delivery.asked_at_once", id=delivery_id),
                hint=Message("delivery.hint_before"),
            )
        row = await fetch_one(self._pool, "outbox.replay", id=delivery_id)
        if row is None:
            raise _unknown(delivery_id)
        return _delivery(row)

    async def said(
        self, feedback_id: str, waited_for: Sequence[str]
    ) -> tuple[Sequence[HookSaid], bool]:
        rows = await fetch_all(
            self._pool, "outbox.said", feedback_id=feedback_id, waited_for=[*waited_for]
        )
        return [_said(row) for row in rows if _has_word(row)], any(r["is_awaited"] for r in rows)

    async def targets(self) -> Sequence[TargetState]:
        rows = await fetch_all(self._pool, "outbox.targets")
        return [TargetState.model_validate(_with_error(row)) for row in rows]

    async def enable(self, target: str) -> bool:
        return bool(await execute(self._pool, "outbox.enable", name=target))


def _delivery(row: DictRow) -> Delivery:
    known = {key: value for key, value in _with_error(row).items() if key in _COLUMNS}
    known["due_at"] = row["due_at"] if row["attempts"] and row["status"] == "waiting" else None
    # What a newer worker has written and this one cannot read must not stop all the others.
    return Delivery.model_validate({**known, "payload": event_of(row["payload"])})


def _with_error(row: DictRow) -> dict[str, object]:
    """Return a row with its error as the message that it was written from."""
    known = dict(row)
    said = recalled(known.pop("said", None))
    return known | {"error": said.get(str(row["error"]), row["error"])}


def _has_word(row: DictRow) -> bool:
    """Whether a hook said something, or could not; what is skipped is no hook's word."""
    return bool(row["answer"] or (row["error"] and row["status"] != DeliveryStatus.SKIPPED))


def _said(row: DictRow) -> HookSaid:
    known = _with_error(row)
    answer = HookAnswer.model_validate(known["answer"] or {})
    return HookSaid(
        hook=row["target"],
        event=row["event"],
        at=row["at"],
        change_id=row["change_id"],
        decision=answer.decision if row["answer"] else None,
        note=answer.note,
        error=known["error"],
    )


def _unknown(delivery_id: str) -> NotFound:
    return NotFound(Message("no.delivery", id=delivery_id), hint=Message("see.deliveries"))
