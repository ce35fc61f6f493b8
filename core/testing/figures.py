"""The `Figures` port in memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta

from core.domain.models import ChangeStatus, Feedback, FeedbackStatus
from core.domain.models.views import (
    EndedBucket,
    EndedSeries,
    OutcomeCount,
    Standing,
    WaitingReviews,
    WorkerSeen,
)
from core.testing.changes import MemoryChangeLog
from core.testing.inbox import MemoryInbox

_EPOCH = datetime(2000, 1, 1, tzinfo=UTC)
_WAIT = {ChangeStatus.HELD, ChangeStatus.STALE}


class MemoryFigures:
    """Counts what an inbox and a change log hold; `seen` are the workers that it tells of."""

    def __init__(
        self, inbox: MemoryInbox, log: MemoryChangeLog, clock: Callable[[], datetime]
    ) -> None:
        self._inbox = inbox
        self._log = log
        self._clock = clock
        self.seen: list[WorkerSeen] = []

    async def standing(self, tenant_id: str | None) -> Standing:
        pieces, now = self._pieces(tenant_id), self._clock()
        queued = [piece for piece in pieces if piece.status is FeedbackStatus.QUEUED]
        due = [piece for piece in queued if not piece.retry_at or piece.retry_at <= now]
        since = [max(filter(None, (piece.created_at, piece.retry_at))) for piece in due]
        return Standing(
            counts=Counter(piece.status for piece in pieces),
            oldest_seconds=_age(now, [p.created_at for p in queued if p.created_at]),
            due_seconds=_age(now, since),
            last_hour=_ended_since(pieces, now - timedelta(hours=1)),
            last_minutes=_ended_since(pieces, now - timedelta(minutes=10)),
        )

    async def ended(self, tenant_id: str | None, step_seconds: int, steps: int) -> EndedSeries:
        step = timedelta(seconds=step_seconds)
        last = self._clock()
        begin = last - (last - _EPOCH) % step - (steps - 1) * step
        times = [begin + step * n for n in range(steps)]
        pieces = self._pieces(tenant_id)
        return EndedSeries(
            step_seconds=step_seconds,
            buckets=tuple(
                EndedBucket(at=at, by_status=_ended_since(pieces, at, at + step)) for at in times
            ),
        )

    async def outcomes(self, tenant_id: str | None) -> Sequence[OutcomeCount]:
        now = datetime.now(UTC)
        found: Counter[tuple[str, str, str]] = Counter()
        of_day: Counter[tuple[str, str, str]] = Counter()
        for change in self._log.changes.values():
            if tenant_id in {None, change.tenant_id}:
                sort = (change.kind.value, change.operation.value, change.status.value)
                found[sort] += 1
                of_day[sort] += (now - (change.created_at or now)) < timedelta(days=1)
        return [
            OutcomeCount.model_validate(
                {"kind": kind, "operation": operation, "status": status, "month": number}
                | {"day": of_day[kind, operation, status]}
            )
            for (kind, operation, status), number in sorted(found.items())
        ]

    async def reviews(self, tenant_id: str | None) -> WaitingReviews:
        waiting = [
            change
            for change in self._log.changes.values()
            if change.held and change.status in _WAIT and tenant_id in {None, change.tenant_id}
        ]
        return WaitingReviews(
            held=sum(change.status is ChangeStatus.HELD for change in waiting),
            stale=sum(change.status is ChangeStatus.STALE for change in waiting),
            oldest_seconds=_age(
                datetime.now(UTC), [change.created_at for change in waiting if change.created_at]
            ),
        )

    async def workers(self, tenant_id: str | None) -> Sequence[WorkerSeen]:
        del tenant_id
        return self.seen

    def _pieces(self, tenant_id: str | None) -> list[Feedback]:
        return [
            piece for piece in self._inbox.feedback.values() if tenant_id in {None, piece.tenant_id}
        ]


def _age(now: datetime, times: Sequence[datetime]) -> float:
    return max(0.0, (now - min(times)).total_seconds()) if times else 0.0


def _ended_since(
    pieces: Sequence[Feedback], begin: datetime, end: datetime | None = None
) -> Mapping[FeedbackStatus, int]:
    return Counter(
        piece.status
        for piece in pieces
        if piece.finished_at
        and begin <= piece.finished_at
        and not (end and piece.finished_at >= end)
    )
