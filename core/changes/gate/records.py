"""How an open intent is carried out, as often as it takes, and what is put on record of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import structlog
from pydantic import JsonValue

from core.changes.cases.judging import CaseGate, Tried, caused_by
from core.changes.cases.wording import all_broken, told_of
from core.changes.gate import receipts
from core.changes.gate.deps import GateDeps
from core.changes.gate.screening import codes_of
from core.domain import tracing
from core.domain.errors import DependencyDown, LeaseLost, SkillWorkerError, Stale
from core.domain.hashing import state_hash
from core.domain.messages import Message, told_id, without_content
from core.domain.models import (
    Change,
    ChangeRequest,
    ChangeStatus,
    HistoryRecord,
    HistoryStatus,
    Kind,
    Receipt,
    RunEvent,
    SubmitContext,
)
from core.domain.models.cases import CaseResult
from core.domain.models.feedback import is_reserved
from core.domain.ports import ChangeLog, Committer, Journal, TargetLocks, UnitOfWork
from core.knowledge.duplicates import Known, evidence


def applied(change: Change, record_id: str) -> HistoryRecord:
    """Return the history row of an applied change, or of one that reverted another."""
    status = HistoryStatus.REVERTED if change.undoes else HistoryStatus.APPLIED
    return HistoryRecord.of(change, record_id, status)


def failed(change: Change, record_id: str, error: SkillWorkerError) -> HistoryRecord:
    """Return the history row of a failed attempt."""
    return HistoryRecord.of(
        change,
        record_id,
        HistoryStatus.FAILED,
        new_content=_with_failure(change, error),
        error=error.message,
    )


def event(name: str, change: Change, error: str | None = None, **more: JsonValue) -> RunEvent:
    """Return an event about a change; `more` is added to its data."""
    data: dict[str, JsonValue] = {
        "kind": change.kind.value,
        "operation": change.operation.value,
        "target_id": change.target_id,
    }
    if not change.findings:  # what the screen has found something in is told to reviewers only
        data["target_name"] = change.target_name
    if is_reserved(change.agent_id):
        data["lesson"] = True  # goes out to nobody: see `own_only`
    if change.warnings:
        data["warnings"] = len(change.warnings)
    if _supersedes(change):
        data["differs"] = True
    if error:
        data["error"] = without_content(error)
    data |= {name: _told(value) for name, value in more.items()}
    return RunEvent(
        name=name,
        tenant_id=change.tenant_id,
        feedback_id=change.feedback_id,
        candidate_id=change.candidate_id,
        change_id=change.id,
        data=data,
    )


def approved(change: Change, by: str) -> RunEvent:
    """Return the event of a person's approval, with what was found and the cases given up."""
    more: dict[str, JsonValue] = {**codes_of(change.findings)}
    if change.decision:
        more["retired"] = [*change.retires]
    return event("change.approved", change, None, by=by, **more)


def cases_broken(tried: Tried, *, is_told: bool) -> RunEvent:
    """Return the event of cases that a change would break: told to the run, or held."""
    nameless = tried.change.model_copy(update={"target_name": ""})
    ids: list[JsonValue] = [*tried.tokens]
    came_to = "held" if is_told else "refused"
    return event("case.broken", nameless, None, cases=ids, came_to=came_to)


def case_events(change: Change) -> Sequence[RunEvent]:
    """Return the events of the cases that a change brings and retires, and of those it drifts."""
    retired: list[JsonValue] = [*change.retires]
    added: list[JsonValue] = [case.id for case in change.cases if case.id not in change.retires]
    found = [("case.added", added), ("case.retired", retired)]
    drifted = change.tried.drifted if change.tried is not None else ()
    return [
        *(event(name, change, None, cases=ids) for name, ids in found if ids),
        *(told_of("case.failed", one.case, case=one.case.id) for one in drifted),
    ]


def _told(value: JsonValue) -> JsonValue:
    """Return a value of an event: of reasons only what they say of themselves."""
    if isinstance(value, list):
        return [_told(one) for one in value]
    return without_content(value) if isinstance(value, Message) else value


def _supersedes(change: Change) -> bool:
    """Whether a memory clashes with the text it supersedes."""
    if change.kind is not Kind.MEMORY or change.before is None or change.after is None:
        return False
    found = evidence(change.after.content, Known("", "", change.before.content))
    return bool(found.clashes)


def refused_event(
    request: ChangeRequest, context: SubmitContext, error: SkillWorkerError
) -> RunEvent:
    """Return the event of a refused request."""
    return RunEvent(
        name="change.refused",
        tenant_id=context.tenant_id,
        feedback_id=context.feedback_id,
        candidate_id=context.fence.candidate_id if context.fence else None,
        data={
            "kind": str(getattr(request, "target_kind", request.kind)),
            "operation": request.operation.value,
            "target_id": told_id(request.target_id),
            "error": without_content(error.message),
        },
    )


def _with_failure(change: Change, error: SkillWorkerError) -> str | None:
    content = change.after.content if change.after else None
    if change.kind is not Kind.SKILL:
        return content
    # The marker of contracts, section 3; an unescaped `-->` would end the comment early.
    reason = error.message.replace("-->", "--&gt;")
    return f"{content or ''}\n<!-- [이력] skill-creator 반영 실패: {reason} -->"


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
    latest = await target_locks.latest(change.tenant_id, change.kind, change.target_id)
    if latest is None or latest.status is ChangeStatus.APPLYING:
        return False
    current = await committer.current(change.tenant_id, change.target_id)
    return state_hash(current) != state_hash(latest.after)


_PAST = {ChangeStatus.FAILED: "failed", ChangeStatus.STALE: "went_stale"}


async def finish(change: Change, deps: GateDeps, *, is_in_doubt: bool = False) -> Receipt:
    """Apply and record an open intent; idempotent.

    An intent `is_in_doubt` if its target may have moved before it was opened: that is asked first.

    Raises LeaseLost if another worker has taken it over; a late write of ours that reached the
    store is recorded first. Raises Stale (recorded) if the target moved, and DependencyDown if
    it is unreachable: the intent stays open, the attempt is recorded, and a later call resumes.
    """
    try:
        with tracing.change(
            change.operation.value,
            store=change.kind.value,
            record_id=change.target_id,
            change_id=change.id,
            tenant_id=change.tenant_id,
            feedback_id=change.feedback_id,
        ):
            tracing.content("gen_ai.memory.records", lambda: _record_of(change))
            return await _carried_out(change, deps, is_in_doubt=is_in_doubt)
    except LeaseLost:
        await report_divergence(
            change, deps.committers[change.kind], deps.target_locks, deps.journal
        )
        raise


def _record_of(change: Change) -> JsonValue:
    state = change.after or change.before
    return [{"id": change.target_id, "content": state.content if state else ""}]


async def has_moved(change: Change, deps: GateDeps) -> bool:
    """Whether the target has changed since the change was prepared."""
    now = await deps.committers[change.kind].current(change.tenant_id, change.target_id)
    return state_hash(now) != change.base_hash


async def _refuse_moved(change: Change, deps: GateDeps) -> None:
    if await has_moved(change, deps):
        raise Stale(Message("change.moved_while_waiting", kind=change.kind, id=change.target_id))


async def look_outside(change: Change, deps: GateDeps) -> None:
    """Put on record what others made of the skill that a change is about."""
    if deps.outside and change.kind is Kind.SKILL and change.target_id and not deps.dry_run:
        await deps.outside.look(change.tenant_id, change.target_id)


async def close(
    change: Change, status: ChangeStatus, error: SkillWorkerError, deps: GateDeps, *, tried: bool
) -> None:
    """Close an intent that was not applied, with a history row if applying it was tried."""
    async with deps.changes.unit_of_work(change) as unit:
        if tried:
            await unit.record_knowledge_history(failed(change, deps.new_id(), error))
        await unit.close(change.id, status, error.message)
        await unit.emit(event(f"change.{_PAST[status]}", change, error.message))


async def _carried_out(change: Change, deps: GateDeps, *, is_in_doubt: bool) -> Receipt:
    # Only a skill has effects outside the transaction, some perhaps made before an error.
    tried = False
    try:
        if is_in_doubt:
            await _refuse_moved(change, deps)
        tried = change.kind is Kind.SKILL
        if deps.cases is not None and change.kind is Kind.SKILL:
            await _try_again(change, deps.cases, deps.changes)
        await deps.committers[change.kind].apply(change)
        await _record(change, deps)
    except LeaseLost:
        raise
    except Stale as error:
        await close(change, ChangeStatus.STALE, error, deps, tried=tried)
        if tried:
            await look_outside(change, deps)
        raise
    except DependencyDown as error:
        async with deps.changes.unit_of_work(change) as unit:
            await unit.record_knowledge_history(failed(change, deps.new_id(), error))
        raise
    except SkillWorkerError as error:
        tracing.fail(error.kind)
        await close(change, ChangeStatus.FAILED, error, deps, tried=True)
        return receipts.failed_receipt(change, error)
    return receipts.receipt_of(change.model_copy(update={"status": ChangeStatus.APPLIED}))


async def _record(change: Change, deps: GateDeps) -> None:
    async with deps.changes.unit_of_work(change) as unit:
        await deps.committers[change.kind].record(change, unit)
        if deps.cases is not None:
            await _keep_cases(change, deps.cases, unit)
        await unit.record_knowledge_history(applied(change, deps.new_id()))
        await unit.close(change.id, ChangeStatus.APPLIED)
        if change.undoes:
            await unit.take_back(change.undoes)
        await unit.emit(event("change.applied", change))


async def _keep_cases(change: Change, gate: CaseGate, unit: UnitOfWork) -> None:
    """Store the cases of a change. Raises Stale if it breaks what was learnt meanwhile."""
    if gate.judges(change) and change.kind is not Kind.SKILL:
        _refuse_broken(caused_by(change, await unit.broken_cases(change)))
    await unit.keep_cases(change)
    for kept in case_events(change):
        await unit.emit(kept)


async def _try_again(change: Change, gate: CaseGate, changes: ChangeLog) -> None:
    """Judge a skill once more before anything of it leaves the database. Raises Stale."""
    _refuse_broken(await gate.broken_since(change, await files_of(change, changes)))


async def files_of(change: Change, changes: ChangeLog) -> Mapping[str, bytes]:
    """Return the bytes of a change's files by SHA-256."""
    files = (change.after.files if change.after else None) or {}
    return await changes.blobs([*files.values()]) if files else {}


def _refuse_broken(broken: Sequence[CaseResult]) -> None:
    if broken:
        raise Stale(Message("case.broken_meanwhile", what=all_broken(broken)))
