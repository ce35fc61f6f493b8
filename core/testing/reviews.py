"""The `Reviews` port in memory, over a `MemoryChangeLog`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from core.domain.errors import Decided
from core.domain.models import Change, ChangeStatus, Kind, RunEvent
from core.testing.changes import MemoryChangeLog

_OPEN = {ChangeStatus.HELD, ChangeStatus.STALE}


class MemoryReviews:
    """Held changes of a `MemoryChangeLog`."""

    def __init__(self, log: MemoryChangeLog) -> None:
        self._log = log

    async def approve(self, change: Change, by: str, event: RunEvent) -> Change:
        waiting = self._waiting(change)
        if waiting.status is not ChangeStatus.HELD:
            raise _decided(change)
        epoch = self._log.epochs.get(waiting.candidate_id or "", waiting.epoch)
        decided = {"decided_by": by, "decided_at": datetime.now(UTC), "epoch": epoch}
        intent = waiting.model_copy(update={**decided, "status": ChangeStatus.APPLYING})
        await self._log.open(intent, {})
        self._log.events.append(event)
        return intent

    async def end(
        self, change: Change, status: ChangeStatus, by: str, reason: str, event: RunEvent
    ) -> None:
        at = datetime.now(UTC) if by else None
        ended = {"status": status, "decided_by": by or None, "decided_at": at}
        told = "error" if status is ChangeStatus.STALE else "decision"
        waiting = self._waiting(change)
        self._log.changes[change.id] = waiting.model_copy(update={**ended, told: reason})
        self._log.events.append(event)

    async def replace(
        self, fresh: Change, seen: Change, blobs: Mapping[str, bytes], event: RunEvent
    ) -> None:
        self._waiting(seen)
        at = fresh.prepared_at or datetime.now(UTC)
        self._log.changes[fresh.id] = fresh.model_copy(
            update={"prepared_at": at, "reminded_at": None}
        )
        self._log.put_blobs(blobs)
        self._log.events.append(event)

    async def now(self) -> datetime:
        return datetime.now(UTC)

    async def beside(self, change: Change, limit: int) -> Sequence[Change]:
        of_lists = change.kind is Kind.SKILL
        found = [
            other
            for other in self._open()
            if other.id != change.id
            and other.tenant_id == change.tenant_id
            and (
                (other.kind is change.kind and (of_lists or other.agent_id == change.agent_id))
                or (of_lists and other.kind is Kind.AGENT_SKILLS)
            )
        ]
        oldest = datetime.min.replace(tzinfo=UTC)
        return sorted(found, key=lambda other: other.said_at or oldest)[:limit]

    async def overdue(self, seconds: float) -> Sequence[Change]:
        late = [c for c in self._open() if _since(c.prepared_at) > seconds]
        return sorted(late, key=lambda change: -_since(change.prepared_at))

    async def remind(self, seconds: float) -> Sequence[Change]:
        due = [c for c in self._open() if _since(c.reminded_at or c.prepared_at) > seconds]
        now = {"reminded_at": datetime.now(UTC)}
        self._log.changes |= {c.id: c.model_copy(update=now) for c in due}
        return due

    def _open(self) -> list[Change]:
        return [c for c in self._log.changes.values() if c.status in _OPEN and c.held]

    def _waiting(self, change: Change) -> Change:
        waiting = self._log.changes[change.id]
        if waiting not in self._open() or waiting.content_hash != change.content_hash:
            raise _decided(change)
        return waiting


def _since(at: datetime | None) -> float:
    return (datetime.now(UTC) - at).total_seconds() if at else 0.0


def _decided(change: Change) -> Decided:
    return Decided(f"change {change.id} was decided or edited at the same time")
