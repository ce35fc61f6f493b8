"""The `Steps` port in memory, over a `MemoryChangeLog`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from core.models import Change, ChangeStatus, Echo, HistoryStatus, Kind
from core.snapshots import state_hash
from core.testing.changes import MemoryChangeLog

_WAITING = {ChangeStatus.HELD, ChangeStatus.STALE}
_Place = tuple[Kind, str, str]


class MemorySteps:
    """Reads the changes and the history of the log; echoes are its own."""

    def __init__(self, log: MemoryChangeLog) -> None:
        self._log = log
        self._echoes: dict[_Place, list[Echo]] = {}

    async def of_feedback(self, feedback_id: str) -> Sequence[Change]:
        """Give what a piece of feedback taught, or would: applied, held and stale, in order."""
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
        """Give all that was done to a target, what was reverted too, in order."""
        return [
            self._log.changes[row.change_id]
            for row in self._log.history
            if (row.knowledge_type, row.tenant_id, row.knowledge_id) == (kind, tenant_id, target_id)
            and row.status is not HistoryStatus.FAILED
        ]

    async def echo(self, change: Change) -> None:
        """Note that the change's feedback said what its target holds already."""
        assert change.feedback_id is not None
        made = Echo(
            feedback_id=change.feedback_id, hash=state_hash(change.after), at=datetime.now(UTC)
        )
        place = (change.kind, change.tenant_id, change.target_id)
        self._echoes.setdefault(place, []).append(made)

    async def echoes(self, kind: Kind, tenant_id: str, target_id: str) -> Sequence[Echo]:
        """Give which feedback said again what a target held, oldest first."""
        return self._echoes.get((kind, tenant_id, target_id), [])

    async def forget_echoes(self, feedback_id: str) -> int:
        """Forget what a piece of feedback said again; gives how many targets that was."""
        count = 0
        for place, echoes in self._echoes.items():
            kept = [echo for echo in echoes if echo.feedback_id != feedback_id]
            count += len(echoes) - len(kept)
            self._echoes[place] = kept
        return count

    async def take_back(self, change_ids: Sequence[str]) -> None:
        """End applied changes as reverted, where nothing is left of them to undo."""
        self._log.turn(change_ids, ChangeStatus.APPLIED, ChangeStatus.REVERTED)
