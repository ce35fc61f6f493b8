"""What the gate writes down: changes, receipts, history records and events (pure)."""

from __future__ import annotations

from core.errors import AlreadyExists, SkillWorkerError
from core.models import (
    Change,
    ChangeRequest,
    ChangeStatus,
    HistoryRecord,
    HistoryStatus,
    Hit,
    Kind,
    Operation,
    Prepared,
    Receipt,
    ReceiptStatus,
    RestoreRequest,
    RunEvent,
    SubmitContext,
)
from core.snapshots import ABSENT

EXCERPT_CHARS = 300

_INVERSE = {
    Operation.CREATE: Operation.DELETE,
    Operation.DELETE: Operation.CREATE,
    Operation.UPDATE: Operation.UPDATE,
}

_RECEIPTS = {
    ChangeStatus.PREPARED: ReceiptStatus.PREPARED,
    ChangeStatus.HELD: ReceiptStatus.HELD,
    ChangeStatus.APPLIED: ReceiptStatus.APPLIED,
    ChangeStatus.REVERTED: ReceiptStatus.APPLIED,
    ChangeStatus.REJECTED: ReceiptStatus.REFUSED,
    ChangeStatus.FAILED: ReceiptStatus.FAILED,
}

_DONE = {
    Operation.CREATE: "created",
    Operation.UPDATE: "updated",
    Operation.DELETE: "deleted",
}


def inverse(operation: Operation) -> Operation:
    """The operation that takes one back."""
    return _INVERSE[operation]


def new_change(
    request: ChangeRequest,
    context: SubmitContext,
    prepared: Prepared,
    *,
    digest: str,
    attempt: int,
    change_id: str,
) -> Change:
    """Make the change that stores what was prepared."""
    fence = context.fence
    return Change(
        id=change_id,
        key=context.key,
        digest=digest,
        attempt=attempt,
        tenant_id=context.tenant_id,
        agent_id=context.agent_id,
        kind=prepared.kind,
        target_id=prepared.target_id,
        target_name=prepared.target_name,
        operation=prepared.operation,
        before=prepared.before,
        after=prepared.after,
        base_hash=prepared.base_hash,
        status=ChangeStatus.PREPARED,
        reason=request.reason,
        merge_mode=request.merge_mode,
        relationship=request.relationship,
        feedback_id=context.feedback_id,
        feedback_content=context.feedback_content,
        candidate_id=fence.candidate_id if fence else None,
        epoch=fence.epoch if fence else None,
        warnings=prepared.warnings,
        reverts=prepared.reverts,
    )


def failed_change(
    request: ChangeRequest, context: SubmitContext, *, digest: str, attempt: int, change_id: str
) -> Change:
    """Make a change that never got content, so that the attempt is on record."""
    target = request.target_id or f"unnamed-{change_id}"
    prepared = Prepared(
        kind=request.target_kind if isinstance(request, RestoreRequest) else request.kind,
        target_id=target,
        target_name=target,
        operation=request.operation,
        before=None,
        after=None,
        base_hash=ABSENT,
    )
    change = new_change(
        request, context, prepared, digest=digest, attempt=attempt, change_id=change_id
    )
    return change.model_copy(update={"status": ChangeStatus.APPLYING})


def revert_context(change: Change, key: str) -> SubmitContext:
    """Submit a revert on behalf of the agent whose change it takes back."""
    return SubmitContext(
        key=key,
        tenant_id=change.tenant_id,
        agent_id=change.agent_id,
        feedback_id=change.feedback_id,
        feedback_content=change.feedback_content,
    )


def receipt_of(change: Change) -> Receipt:
    """Say what a stored change came to."""
    status = _RECEIPTS[change.status]
    done = _DONE[change.operation]
    message = f"{change.kind} {change.target_name!r} {done}"
    if change.status is ChangeStatus.PREPARED:
        message = f"dry run: {change.kind} {change.target_name!r} would be {done}"
    if status is ReceiptStatus.FAILED:
        message = change.error or f"{change.kind} {change.target_name!r} could not be {done}"
    if status is ReceiptStatus.APPLIED and change.kind is Kind.AGENT_SKILLS:
        status, message = ReceiptStatus.ATTACHED, f"the agent's skills are set: {_listed(change)}"
    return _receipt(change, status, message)


def known_receipt(change: Change) -> Receipt:
    """Say that the target already holds exactly this."""
    message = f"already known, nothing changed: {change.kind} {change.target_name!r}"
    if change.kind is Kind.AGENT_SKILLS:
        message = f"already attached, nothing changed: {_listed(change)}"
    return _receipt(change, ReceiptStatus.KNOWN, message, stored=False)


def failed_receipt(change: Change, error: SkillWorkerError) -> Receipt:
    """Say that a change was tried and failed for good."""
    message = f"{error.message}. {error.hint}" if error.hint else error.message
    return _receipt(change, ReceiptStatus.FAILED, message)


def exists_receipt(kind: Kind, operation: Operation, error: AlreadyExists) -> Receipt:
    """Refuse a CREATE under a taken name, with the item that has it."""
    hit = Hit(
        id=error.item_id,
        kind=kind,
        name=error.name,
        excerpt=error.content[:EXCERPT_CHARS],
        score=1.0,
        why="same name",
    )
    return Receipt(
        status=ReceiptStatus.REFUSED,
        message=f"{error.message}. {error.hint}",
        kind=kind,
        operation=operation,
        target_id=error.item_id,
        target_name=error.name,
        hits=(hit,),
    )


def applied(change: Change, record_id: str) -> HistoryRecord:
    """The audit row of an applied change, or of one that reverted another."""
    status = HistoryStatus.REVERTED if change.reverts else HistoryStatus.APPLIED
    return _history(change, record_id, None, status)


def failed(change: Change, record_id: str, error: SkillWorkerError) -> HistoryRecord:
    """The audit row of an attempt that failed."""
    return _history(change, record_id, error, HistoryStatus.FAILED)


def _history(
    change: Change, record_id: str, error: SkillWorkerError | None, status: HistoryStatus
) -> HistoryRecord:
    """The audit row of a change, with its whole before and after."""
    return HistoryRecord(
        id=record_id,
        knowledge_type=change.kind,
        knowledge_id=change.target_id,
        knowledge_name=change.target_name,
        agent_id=change.agent_id,
        tenant_id=change.tenant_id,
        operation=change.operation,
        previous_content=change.before.content if change.before else None,
        new_content=_with_failure(change, error),
        previous_files=change.before.files if change.before else None,
        new_files=change.after.files if change.after else None,
        feedback_content=change.feedback_content,
        feedback_id=change.feedback_id,
        change_id=change.id,
        attempt=change.attempt,
        status=status,
        error=error.message if error else None,
    )


def event(name: str, change: Change, error: str | None = None) -> RunEvent:
    """An event about a change."""
    data = {
        "kind": change.kind.value,
        "operation": change.operation.value,
        "target_id": change.target_id,
        "target_name": change.target_name,
    }
    return RunEvent(
        name=name,
        tenant_id=change.tenant_id,
        feedback_id=change.feedback_id,
        candidate_id=change.candidate_id,
        change_id=change.id,
        data={**data, "error": error} if error else {**data},
    )


def refused_event(
    request: ChangeRequest, context: SubmitContext, error: SkillWorkerError
) -> RunEvent:
    """An event about a request that made no change."""
    return RunEvent(
        name="change.refused",
        tenant_id=context.tenant_id,
        feedback_id=context.feedback_id,
        candidate_id=context.fence.candidate_id if context.fence else None,
        data={
            "kind": str(request.kind),
            "operation": request.operation.value,
            "target_id": request.target_id,
            "error": error.message,
        },
    )


def _with_failure(change: Change, error: SkillWorkerError | None) -> str | None:
    content = change.after.content if change.after else None
    if error is None or change.kind is not Kind.SKILL:
        return content
    reason = error.message.replace("-->", "--&gt;")
    return f"{content or ''}\n<!-- [이력] skill-creator 반영 실패: {reason} -->"


def _listed(change: Change) -> str:
    return ", ".join(change.after.content.splitlines()) if change.after else "none"


def _receipt(
    change: Change, status: ReceiptStatus, message: str, *, stored: bool = True
) -> Receipt:
    kept = stored and change.status is not ChangeStatus.PREPARED
    return Receipt(
        status=status,
        message=message,
        change_id=change.id if kept else None,
        kind=change.kind,
        operation=change.operation,
        target_id=change.target_id,
        target_name=change.target_name,
        warnings=change.warnings,
    )
