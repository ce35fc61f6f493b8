"""Held changes and the decisions about them, as rows of `changes`."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import LiteralString

from psycopg import errors as pg
from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

from core.adapters.postgres.change_log import (
    change_of,
    change_row,
    put_blobs,
    refuse_unforeseen,
)
from core.adapters.postgres.inbox import end_feedback_of_change
from core.adapters.postgres.queries import (
    Connection,
    Pool,
    connection,
    execute,
    fetch_all,
    fetch_one,
    joined,
    sql,
    to_said,
    transaction,
    usage_of,
    writing,
)
from core.adapters.postgres.runs import write_event
from core.adapters.postgres.search import refuse_skill_beside
from core.domain.errors import Decided, NotFound, TargetBusy
from core.domain.hashing import state_hash
from core.domain.messages import Message
from core.domain.models import (
    NO_USAGE,
    Allowed,
    Change,
    ChangeStatus,
    Facts,
    Finding,
    Kind,
    RunEvent,
    Scope,
)
from core.domain.models.costs import ChangeCost
from core.domain.models.review import Cause, Matched, OpenedChange, QueuePosition
from core.domain.observers import nobody, nowhere
from core.domain.ports import Observer, Routes
from core.domain.ports.changes import AHEAD


class PostgresReviews:
    """The `Reviews` port; `observe` is called with each event once it is committed."""

    def __init__(self, pool: Pool, observe: Observer = nobody, routes: Routes = nowhere) -> None:
        self._pool = pool
        self._routes = routes
        self._observe = observe

    async def approve(self, change: Change, by: str, event: RunEvent) -> Change:
        try:
            intent = await self._approve(change, by, event)
        except TargetBusy:
            target = {"tenant_id": change.tenant_id, "kind": change.kind}
            freed = await execute(
                self._pool, "changes.release_dead", **target, target_id=change.target_id
            )
            if not freed:
                raise
            intent = await self._approve(change, by, event)
        self._observe(event, NO_USAGE)
        return intent

    async def _approve(self, change: Change, by: str, event: RunEvent) -> Change:
        params = {
            **change.picked("id", "content_hash", "decision"),
            "by": by,
            "retires": Jsonb([*change.retires]),
        }
        async with writing(self._pool) as conn:
            try:
                decided = await _decide(conn, "reviews.approve", params)
            except pg.UniqueViolation:
                raise TargetBusy(
                    Message("change.target_busy", kind=change.kind, id=change.target_id)
                ) from None
            await refuse_skill_beside(conn, change)
            await refuse_unforeseen(conn, change)
            await write_event(conn, event, self._routes)
            if change.kind is not Kind.SKILL:
                await conn.execute(sql("reviews.leave_flush"))
        return change.model_copy(update={**decided, "status": ChangeStatus.APPLYING})

    async def end(
        self, change: Change, status: ChangeStatus, by: str, reason: str, event: RunEvent
    ) -> None:
        params = {
            "id": change.id,
            "content_hash": change.content_hash,
            "status": status,
            "by": by,
            "reason": reason,
            "said": to_said(reason),
        }
        async with writing(self._pool) as conn:
            await _decide(conn, "reviews.end", params)
            await end_feedback_of_change(conn, change.id, change.feedback_id)
            await write_event(conn, event, self._routes)
        self._observe(event, NO_USAGE)

    async def replace(
        self, fresh: Change, seen: Change, blobs: Mapping[str, bytes], event: RunEvent
    ) -> None:
        async with transaction(self._pool) as conn:
            await put_blobs(conn, fresh.tenant_id, blobs)
            await _decide(
                conn, "reviews.replace", change_row(fresh) | {"seen_hash": seen.content_hash}
            )
            await write_event(conn, event, self._routes)
        self._observe(event, NO_USAGE)

    async def now(self) -> datetime:
        row = await fetch_one(self._pool, "reviews.now")
        assert row is not None
        now: datetime = row["now"]
        return now

    async def beside(self, change: Change, limit: int) -> Sequence[Change]:
        whose = change.picked("id", "tenant_id", "agent_id", "kind")
        rows = await fetch_all(self._pool, "reviews.beside", **whose, limit=limit)
        return [change_of(row) for row in rows]

    async def overdue(self, seconds: float) -> Sequence[Change]:
        rows = await fetch_all(self._pool, "reviews.overdue", seconds=seconds)
        return [change_of(row) for row in rows]

    async def remind(self, seconds: float) -> Sequence[Change]:
        rows = await fetch_all(self._pool, "reviews.remind", seconds=seconds)
        return [change_of(row) for row in rows]


async def _decide(conn: Connection, block: str, params: Mapping[str, object]) -> DictRow:
    """Decide, and return the row. Raises Decided."""
    decided = await (await conn.execute(sql(block), params)).fetchone()
    if decided is None:
        raise Decided(
            Message("review.at_the_same_time", id=str(params["id"])),
            hint=Message("review.look_again"),
        )
    return decided


_BESIDE = ("cause", "matched", "queue_position", "cost", "undone_by")


class PostgresReviewQueue:
    """The `ReviewQueue` port."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def open(
        self, change_id: str, *, tenant_id: str | None, but: Collection[str]
    ) -> OpenedChange:
        scope = _scope(tenant_id, but)
        async with connection(self._pool) as conn:
            query = _of("review_queue.opened", tenant_id)
            row = await (await conn.execute(query, {"id": change_id, **scope})).fetchone()
        if row is None:
            raise NotFound(Message("no.change", id=change_id), hint=Message("see.changes"))
        return _opened(row)

    async def oldest(self, *, tenant_id: str | None, but: Collection[str]) -> Sequence[str]:
        async with connection(self._pool) as conn:
            query = _of("review_queue.oldest", tenant_id)
            rows = await (await conn.execute(query, _scope(tenant_id, but))).fetchall()
        return [row["id"] for row in rows]


def _of(block: str, tenant_id: str | None) -> LiteralString:
    condition = "" if tenant_id is None else sql("review_queue.of_tenant")
    return sql(block).replace("/* asked for */", condition)


def _scope(tenant_id: str | None, but: Collection[str]) -> dict[str, object]:
    return {"tenant_id": tenant_id, "but": joined(but), "ahead": AHEAD}


def _opened(row: DictRow) -> OpenedChange:
    cause, matched, position, cost, undone_by = (row.pop(name) for name in _BESIDE)
    following = (*row.pop("later"), *row.pop("earlier"))[:AHEAD]
    return OpenedChange(
        change=change_of(row),
        cause=Cause.model_validate(cause) if cause else None,
        matched=_matched(matched) if matched else None,
        queue_position=QueuePosition.model_validate({**position, "following": following}),
        cost=ChangeCost.model_validate(cost),
        undone_by=undone_by,
    )


def _matched(row: DictRow) -> Matched:
    known = {key: row[key] for key in ("agent_name", "content", "intent_hint")}
    return Matched(**known, usage=usage_of(row))


class PostgresScreenRecords:
    """The `ScreenRecords` port; `observe` is called with each event once it is committed."""

    def __init__(self, pool: Pool, observe: Observer = nobody) -> None:
        self._pool = pool
        self._observe = observe

    async def facts(self, change: Change) -> Facts:
        target = change.picked("tenant_id", "kind", "target_id", "feedback_id")
        is_for_all = change.after is not None and change.after.reach.scope is Scope.TENANT
        row = await fetch_one(
            self._pool,
            "screen.facts",
            **target,
            hash=state_hash(change.after),
            is_for_all=is_for_all,
            digests=[finding.digest for finding in change.findings],
        )
        return Facts.model_validate(row)

    async def allowed(self, tenant_id: str, digests: Sequence[str]) -> Sequence[Allowed]:
        given = {"tenant_id": tenant_id, "digests": [*digests]}
        return [Allowed(**row) for row in await fetch_all(self._pool, "screen.allowed", **given)]

    async def allow(
        self, change: Change, findings: Sequence[Finding], *, by: str, reason: str, event: RunEvent
    ) -> None:
        found = {finding.digest: finding.code for finding in findings}
        params = {
            "tenant_id": change.tenant_id,
            "change_id": change.id,
            "digests": [*found],
            "codes": [*found.values()],
            "by": by,
            "reason": reason,
        }
        async with transaction(self._pool) as conn:
            await conn.execute(sql("screen.allow"), params)
            await write_event(conn, event)
        self._observe(event, NO_USAGE)

    async def waiting(self) -> int:
        row = await fetch_one(self._pool, "screen.waiting")
        return row["changes"] if row else 0
