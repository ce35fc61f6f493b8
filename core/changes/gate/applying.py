"""Apply and record an open intent, idempotently: a crash or an outage repeats it."""

from __future__ import annotations

import structlog

from core.changes.gate import receipts, records
from core.changes.gate.deps import GateDeps
from core.changes.gate.records import event
from core.domain.errors import DependencyDown, LeaseLost, SkillWorkerError, Stale
from core.domain.hashing import state_hash
from core.domain.models import Change, ChangeStatus, Kind, Receipt
from core.domain.ports import Committer, Journal, TargetLocks

log = structlog.get_logger(__name__)


async def report_divergence(
    change: Change, committer: Committer, target_locks: TargetLocks, journal: Journal
) -> None:
    """Emit `change.diverged` if the target's store differs from the last recorded state."""
    try:
        if await _has_diverged(change, committer, target_locks):
            await journal.emit(event("change.diverged", change))
    except SkillWorkerError as error:
        log.warning("change.unseen", change_id=change.id, error=error.message)


async def _has_diverged(change: Change, committer: Committer, target_locks: TargetLocks) -> bool:
    """Whether the store differs. Only a skill's store is outside our fenced transactions.

    While another change of it is being applied, that one compares.
    """
    if change.kind is not Kind.SKILL:
        return False
    latest = await target_locks.latest(change)
    if latest is None or latest.status is ChangeStatus.APPLYING:
        return False
    current = await committer.current(change.tenant_id, change.target_id)
    return state_hash(current) != state_hash(latest.after)


_PAST = {ChangeStatus.FAILED: "failed", ChangeStatus.STALE: "went_stale"}


async def finish(change: Change, deps: GateDeps) -> Receipt:
    """Apply and record an open intent; idempotent.

    Raises LeaseLost if another worker has taken it over; a late write of ours that reached the
    store is recorded first. Raises Stale (recorded) if the target moved, and DependencyDown if
    it is unreachable: the intent stays open, the attempt is recorded, and a later call resumes.
    """
    try:
        return await _carried_out(change, deps)
    except LeaseLost:
        await report_divergence(
            change, deps.committers[change.kind], deps.target_locks, deps.journal
        )
        raise


async def has_moved(change: Change, deps: GateDeps) -> bool:
    """Whether the target has changed since the change was prepared."""
    now = await deps.committers[change.kind].current(change.tenant_id, change.target_id)
    return state_hash(now) != change.base_hash


async def close(
    change: Change, status: ChangeStatus, error: SkillWorkerError, deps: GateDeps, *, tried: bool
) -> None:
    """Close an intent that was not applied, with a history row if applying it was tried."""
    async with deps.changes.unit_of_work(change) as unit:
        if tried:
            await unit.record_knowledge_history(records.failed(change, deps.new_id(), error))
        await unit.close(change.id, status, error.message)
        await unit.emit(records.event(f"change.{_PAST[status]}", change, error.message))


async def _carried_out(change: Change, deps: GateDeps) -> Receipt:
    try:
        await deps.committers[change.kind].apply(change)
        await _record(change, deps)
    except LeaseLost:
        raise
    except Stale as error:
        # Only a skill has effects outside the transaction, some perhaps made before this error.
        await close(change, ChangeStatus.STALE, error, deps, tried=change.kind is Kind.SKILL)
        raise
    except DependencyDown as error:
        async with deps.changes.unit_of_work(change) as unit:
            await unit.record_knowledge_history(records.failed(change, deps.new_id(), error))
        raise
    except SkillWorkerError as error:
        await close(change, ChangeStatus.FAILED, error, deps, tried=True)
        return receipts.failed_receipt(change, error)
    return receipts.receipt_of(change.model_copy(update={"status": ChangeStatus.APPLIED}))


async def _record(change: Change, deps: GateDeps) -> None:
    async with deps.changes.unit_of_work(change) as unit:
        await deps.committers[change.kind].record(change, unit)
        await unit.record_knowledge_history(records.applied(change, deps.new_id()))
        await unit.close(change.id, ChangeStatus.APPLIED)
        if change.undoes:
            await unit.take_back(change.undoes)
        await unit.emit(records.event("change.applied", change))
