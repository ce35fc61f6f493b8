"""Figures of the queue and of reviews, answered from indexes that cover all that is counted."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import LiteralString

from psycopg.rows import DictRow

from core.adapters.cache import Cached, Clock
from core.adapters.postgres.queries import Pool, connection, fetch_all, fetch_one, sql
from core.domain.models import FeedbackStatus, Undecided, Waiting
from core.domain.models.deliveries import DeliveryStatus
from core.domain.models.views import (
    EndedBucket,
    EndedSeries,
    OutcomeCount,
    Standing,
    WaitingReviews,
    WorkerSeen,
)


class PostgresBacklog:
    """The `Backlog` port."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def waiting(self) -> Waiting:
        return Waiting.model_validate(await fetch_one(self._pool, "backlog.waiting"))

    async def ended(self) -> Mapping[FeedbackStatus, int]:
        rows = await fetch_all(self._pool, "backlog.ended")
        return {FeedbackStatus(row["status"]): row["pieces"] for row in rows}

    async def undecided(self) -> Undecided:
        return Undecided.model_validate(await fetch_one(self._pool, "backlog.undecided"))

    async def going_out(self) -> Mapping[tuple[str, DeliveryStatus], int]:
        rows = await fetch_all(self._pool, "backlog.going_out")
        return {(row["target"], DeliveryStatus(row["status"])): row["deliveries"] for row in rows}


KEEP_SECONDS = 60.0
_DAY = 86_400
MINUTES_SECONDS = 600.0  # the period of `Standing.last_minutes`


class PostgresFigures:
    """The `Figures` port; a worker silent for `stalled_after` seconds counts as dead.

    Totals of ended feedback, and series longer than a day, are up to a minute old.
    """

    def __init__(self, pool: Pool, *, stalled_after: float, clock: Clock = time.monotonic) -> None:
        self._pool = pool
        self._slow: Cached[list[DictRow]] = Cached(KEEP_SECONDS, clock)
        self._stalled_after = stalled_after

    async def standing(self, tenant_id: str | None) -> Standing:
        counts = [
            *await self._rows("figures.unfinished", tenant_id),
            *await self._slow.get(
                ("finished", tenant_id), lambda: self._rows("figures.finished", tenant_id)
            ),
        ]
        (oldest,) = await self._rows("figures.oldest", tenant_id)
        ended = await self._rows("figures.just_ended", tenant_id, minutes=MINUTES_SECONDS)
        return Standing(
            counts={FeedbackStatus(row["status"]): row["pieces"] for row in counts},
            oldest_seconds=max(0.0, oldest["oldest_seconds"]),
            due_seconds=max(0.0, oldest["due_seconds"]),
            last_hour={FeedbackStatus(row["status"]): row["hour"] for row in ended},
            last_minutes={
                FeedbackStatus(row["status"]): row["minutes"] for row in ended if row["minutes"]
            },
        )

    async def ended(self, tenant_id: str | None, step_seconds: int, steps: int) -> EndedSeries:
        params = {"step": step_seconds, "steps": steps}
        if step_seconds * steps <= _DAY:
            rows = await self._rows("figures.ended", tenant_id, **params)
        else:
            rows = await self._slow.get(
                ("ended", tenant_id, step_seconds, steps),
                lambda: self._rows("figures.ended", tenant_id, **params),
            )
        found: defaultdict[datetime, dict[FeedbackStatus, int]] = defaultdict(dict)
        for row in rows:
            if row["at"] is not None:
                found[row["at"]][FeedbackStatus(row["status"])] = row["pieces"]
        times = [rows[0]["begin"] + timedelta(seconds=step_seconds * n) for n in range(steps)]
        buckets = tuple(EndedBucket(at=at, by_status=found.get(at, {})) for at in times)
        return EndedSeries(step_seconds=step_seconds, buckets=buckets)

    async def outcomes(self, tenant_id: str | None) -> Sequence[OutcomeCount]:
        rows = await self._slow.get(
            ("outcomes", tenant_id), lambda: self._rows("figures.outcomes", tenant_id)
        )
        return [OutcomeCount.model_validate(row) for row in rows]

    async def reviews(self, tenant_id: str | None) -> WaitingReviews:
        (row,) = await self._rows("figures.reviews", tenant_id)
        return WaitingReviews.model_validate(row)

    async def workers(self, tenant_id: str | None) -> Sequence[WorkerSeen]:
        rows = await fetch_all(
            self._pool,
            "figures.workers",
            tenant_id=tenant_id,
            stalled_after=self._stalled_after,
        )
        return [WorkerSeen.model_validate(row) for row in rows]

    async def _rows(self, name: str, tenant_id: str | None, **params: float) -> list[DictRow]:
        async with connection(self._pool) as conn:
            found = await conn.execute(
                _of(sql(name), tenant_id), {**params, "tenant_id": tenant_id}
            )
            return await found.fetchall()


def _of(query: LiteralString, tenant_id: str | None) -> LiteralString:
    return query.replace("/* asked for */", sql("figures.of_tenant") if tenant_id else "")
