"""The `ReviewQueue` port in memory, over the other stores in memory."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import UTC, datetime

from core.domain.models import Change, ChangeCost, ChangeStatus
from core.domain.models.review import Cause, Matched, OpenedChange, QueuePosition
from core.domain.ports.changes import AHEAD
from core.testing.changes import MemoryChangeLog
from core.testing.inbox import MemoryInbox
from core.testing.runs import MemoryRuns
from core.testing.spending import MemorySpending

_WAITING = {ChangeStatus.HELD, ChangeStatus.STALE}
_NO_TIME = datetime.min.replace(tzinfo=UTC)


class MemoryReviewQueue:
    """Reads the log's dict; of the other stores, what is not given is not known."""

    def __init__(
        self,
        log: MemoryChangeLog,
        *,
        inbox: MemoryInbox | None = None,
        runs: MemoryRuns | None = None,
        spending: MemorySpending | None = None,
    ) -> None:
        self._log = log
        self._inbox = inbox
        self._runs = runs
        self._spending = spending

    async def open(
        self, change_id: str, *, tenant_id: str | None, but: Collection[str]
    ) -> OpenedChange:
        change = await self._log.get(change_id)
        return OpenedChange(
            change=change,
            cause=self._cause(change),
            matched=self._matched(change),
            queue_position=self._position(change, tenant_id, but),
            cost=await self._spending.of_change(change) if self._spending else ChangeCost(),
            undone_by=self._undone_by(change),
        )

    async def oldest(self, *, tenant_id: str | None, but: Collection[str]) -> Sequence[str]:
        waiting = self._line(tenant_id)
        return [change.id for change in waiting if change.id not in but][:AHEAD]

    def _line(self, tenant_id: str | None) -> list[Change]:
        waiting = [
            change
            for change in self._log.changes.values()
            if change.status in _WAITING and change.held and tenant_id in {None, change.tenant_id}
        ]
        return sorted(waiting, key=_age)

    def _position(
        self, change: Change, tenant_id: str | None, but: Collection[str]
    ) -> QueuePosition:
        line = self._line(tenant_id)
        before = [other.id for other in line if _age(other) < _age(change)]
        behind = [other.id for other in line if _age(other) > _age(change)]
        following = [other for other in (*behind, *before) if other not in but]
        return QueuePosition(
            waiting=len(line),
            position=len(before) + 1 if change in line else None,
            previous=before[-1] if before else None,
            following=tuple(following[:AHEAD]),
        )

    def _undone_by(self, change: Change) -> str | None:
        if change.status is not ChangeStatus.REVERTED:
            return None
        applied = [c for c in self._log.changes.values() if c.status is ChangeStatus.APPLIED]
        undoing = [c for c in applied if change.id in c.undoes]
        return max(undoing, key=_age).id if undoing else None

    def _cause(self, change: Change) -> Cause | None:
        piece = self._inbox.feedback.get(change.feedback_id or "") if self._inbox else None
        if piece is None:
            return None
        return Cause.model_validate(piece.model_dump(include=set(Cause.model_fields)))

    def _matched(self, change: Change) -> Matched | None:
        candidate = self._runs.stored.get(change.candidate_id or "") if self._runs else None
        if candidate is None:
            return None
        return Matched.model_validate(candidate.model_dump(include=set(Matched.model_fields)))


def _age(change: Change) -> tuple[datetime, str]:
    return change.created_at or _NO_TIME, change.id
