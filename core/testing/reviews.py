"""The `Reviews` port in memory, over a `MemoryChangeLog`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

from core.errors import Decided
from core.models import Change, ChangeStatus, RunEvent
from core.testing.changes import MemoryChangeLog

_OPEN = {ChangeStatus.HELD, ChangeStatus.STALE}


class MemoryReviews:
    """Changes that wait, in the log's dict; `now` is moved by tests."""

    def __init__(self, log: MemoryChangeLog) -> None:
        self._log = log
        self.now = datetime.now(UTC)

    async def approve(self, change: Change, by: str, event: RunEvent) -> None:
        """Make a held change an intent. Raises Decided, TargetBusy, Repeated."""
        held = self._waiting(change)
        if held.status is not ChangeStatus.HELD:
            raise _decided(change)
        epoch = self._log.epochs.get(held.candidate_id or "", held.epoch)
        decided = {"decided_by": by, "decided_at": self.now, "epoch": epoch}
        intent = held.model_copy(update={**decided, "status": ChangeStatus.APPLYING})
        await self._log.open(intent, {})
        self._log.events.append(event)

    async def end(
        self, change: Change, status: ChangeStatus, by: str, reason: str, event: RunEvent
    ) -> None:
        """Reject a change that waits, or say that it went stale. Raises Decided."""
        ended = {"status": status, "decided_by": by or None, "decided_at": self.now if by else None}
        told = "error" if status is ChangeStatus.STALE else "decision"
        held = self._waiting(change)
        self._log.changes[change.id] = held.model_copy(update={**ended, told: reason})
        self._log.events.append(event)

    async def replace(
        self, fresh: Change, seen: Change, blobs: Mapping[str, bytes], event: RunEvent
    ) -> None:
        """Put other content in the place of what was `seen`; it waits again. Raises Decided."""
        self._waiting(seen)
        self._log.changes[fresh.id] = fresh
        self._log.put_blobs(blobs)
        self._log.events.append(event)

    async def overdue(self, seconds: float) -> Sequence[Change]:
        """Give what has waited for longer than that, the longest first."""
        return [c for c in self._open() if self._since(c.created_at) > seconds]

    async def remind(self, seconds: float) -> Sequence[Change]:
        """Give what has waited for that long since it was last named here, and note it."""
        due = [c for c in self._open() if self._since(c.reminded_at or c.created_at) > seconds]
        for change in due:
            self._log.changes[change.id] = change.model_copy(update={"reminded_at": self.now})
        return due

    def _since(self, at: datetime | None) -> float:
        return ((self.now - at) if at else timedelta()).total_seconds()

    def _open(self) -> list[Change]:
        return [c for c in self._log.changes.values() if c.status in _OPEN and c.held]

    def _waiting(self, change: Change) -> Change:
        held = self._log.changes[change.id]
        if held not in self._open() or held.content_hash != change.content_hash:
            raise _decided(change)
        return held


def _decided(change: Change) -> Decided:
    return Decided(f"change {change.id} was decided or edited at the same time")
