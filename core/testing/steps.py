"""The `Steps` port in memory, over a `MemoryChangeLog`."""

from __future__ import annotations

from collections.abc import Sequence

from core.domain.models import Change, ChangeStatus, HistoryStatus, Kind, LaterWord, Origin
from core.testing.changes import MemoryChangeLog

_WAITING = {ChangeStatus.HELD, ChangeStatus.STALE}


class MemorySteps:
    """Read the changes and the history of a log."""

    def __init__(self, log: MemoryChangeLog) -> None:
        self._log = log

    async def of_feedback(self, feedback_id: str) -> Sequence[Change]:
        return [
            change
            for change in self._log.changes.values()
            if change.feedback_id == feedback_id
            and not change.retracts
            and change.reverts is None
            and (
                change.status is ChangeStatus.APPLIED
                or (change.status in _WAITING and bool(change.held))
            )
        ]

    async def chain(self, kind: Kind, tenant_id: str, target_id: str) -> Sequence[Change]:
        return [
            self._log.changes[row.change_id]
            for row in self._log.history
            if (row.knowledge_type, row.tenant_id, row.knowledge_id) == (kind, tenant_id, target_id)
            and row.status is not HistoryStatus.FAILED
        ]

    async def later(self, change: Change) -> Sequence[LaterWord]:
        words = [
            LaterWord(
                change_id=known.id,
                feedback_id=known.feedback_id,
                target_id=known.target_id,
                said_at=known.said_at,
                heard_at=known.heard_at,
            )
            for known in await self.chain(change.kind, change.tenant_id, change.target_id)
            if known.said_at and known.heard_at and change.said_at and change.heard_at
            if (known.said_at, known.heard_at) > (change.said_at, change.heard_at)
            if known.feedback_id != change.feedback_id and known.origin is not Origin.OUTSIDE
        ]
        return sorted(words, key=lambda word: (word.said_at, word.heard_at))

    async def take_back(self, change_ids: Sequence[str]) -> None:
        self._log.turn(change_ids, ChangeStatus.APPLIED, ChangeStatus.REVERTED)
