"""The `Reviews` port in memory, over a `MemoryChangeLog`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from core.domain.errors import Decided
from core.domain.models import (
    Allowed,
    Change,
    ChangeStatus,
    Facts,
    Finding,
    Kind,
    RunEvent,
)
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
        decided |= {"decision": change.decision, "retires": change.retires}
        intent = waiting.model_copy(
            update={**decided, "tried": change.tried, "status": ChangeStatus.APPLYING}
        )
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


class MemoryScreenRecords:
    """What people have allowed; `known` is what is known of who said it."""

    def __init__(self, log: MemoryChangeLog, known: Facts | None = None) -> None:
        self._log = log
        self.known = known or Facts(author="kim", is_known=True)
        self.asked = 0
        self._allowed: dict[tuple[str, str], Allowed] = {}

    async def facts(self, change: Change) -> Facts:
        self.asked += 1
        digests = [finding.digest for finding in change.findings]
        allowed = {one.digest for one in await self.allowed(change.tenant_id, digests)}
        return self.known.model_copy(update={"allowed": frozenset(allowed)})

    async def allowed(self, tenant_id: str, digests: Sequence[str]) -> Sequence[Allowed]:
        keys = [(tenant_id, digest) for digest in digests]
        return [self._allowed[key] for key in keys if key in self._allowed]

    async def allow(
        self, change: Change, findings: Sequence[Finding], *, by: str, reason: str, event: RunEvent
    ) -> None:
        for finding in findings:
            allowed = Allowed(
                tenant_id=change.tenant_id,
                digest=finding.digest,
                code=finding.code,
                reason=reason,
                allowed_by=by,
                change_id=change.id,
            )
            self._allowed.setdefault((change.tenant_id, finding.digest), allowed)
        self._log.events.append(event)

    async def waiting(self) -> int:
        waits = [c for c in self._log.changes.values() if c.status in _OPEN and c.held]
        return sum(any(one.holds for one in change.findings) for change in waits)


def _since(at: datetime | None) -> float:
    return (datetime.now(UTC) - at).total_seconds() if at else 0.0


def _decided(change: Change) -> Decided:
    return Decided(f"change {change.id} was decided or edited at the same time")
