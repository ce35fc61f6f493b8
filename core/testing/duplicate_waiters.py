"""The `DuplicateWaiters` port in memory."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from core.domain.hashing import state_hash
from core.domain.models import Change, ChangeStatus, DuplicateWaiter, Kind, Operation
from core.testing.changes import MemoryChangeLog


class MemoryDuplicateWaiters:
    """Waiters with their tenants, oldest first; without a log there are none."""

    def __init__(self, log: MemoryChangeLog | None = None) -> None:
        self._log = log
        self._waiters: list[tuple[str, DuplicateWaiter]] = []

    async def note(
        self,
        change: Change,
        units: Sequence[Sequence[str]] | None = None,
        by: str | None = None,
    ) -> None:
        if units is not None:
            return  # parts matter to what is said earlier and comes later, in PostgreSQL
        assert change.feedback_id is not None
        self._add(change, change.feedback_id, by)

    async def join(
        self,
        change: Change,
        units: Sequence[Sequence[str]] | None = None,
    ) -> Change | None:
        del units  # as in `note`
        assert change.feedback_id is not None
        known = self._log.changes.values() if self._log else ()
        for waiting in known:
            if waiting.status is ChangeStatus.HELD and waiting.held and _alike(waiting, change):
                if waiting.feedback_id != change.feedback_id:
                    self._add(waiting, change.feedback_id, waiting.id)
                return waiting
        return None

    def _add(self, change: Change, feedback_id: str, change_id: str | None) -> None:
        made = DuplicateWaiter(
            feedback_id=feedback_id,
            kind=change.kind,
            target_id=change.target_id,
            hash=state_hash(change.after),
            change_id=change_id,
            at=datetime.now(UTC),
        )
        known = {
            (tenant, waiter.model_copy(update={"at": made.at})) for tenant, waiter in self._waiters
        }
        if (change.tenant_id, made) not in known:
            self._waiters.append((change.tenant_id, made))

    async def at(self, kind: Kind, tenant_id: str, target_id: str) -> Sequence[DuplicateWaiter]:
        target = (tenant_id, kind, target_id)
        return [e for tenant, e in self._waiters if (tenant, e.kind, e.target_id) == target]

    async def of_feedback(self, feedback_id: str) -> Sequence[DuplicateWaiter]:
        return [waiter for _, waiter in self._waiters if waiter.feedback_id == feedback_id]

    async def forget(self, feedback_id: str) -> None:
        self._waiters = [
            (t, waiter) for t, waiter in self._waiters if waiter.feedback_id != feedback_id
        ]


def _alike(waiting: Change, change: Change) -> bool:
    fields = ("tenant_id", "kind", "agent_id", "operation", "base_hash", "after")
    is_new = change.operation is Operation.CREATE
    return (
        not waiting.undoes
        and all(getattr(waiting, name) == getattr(change, name) for name in fields)
        and (is_new or waiting.target_id == change.target_id)
    )
