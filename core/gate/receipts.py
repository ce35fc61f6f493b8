"""What a submitted change came to, in words for the model (pure)."""

from __future__ import annotations

from core.errors import AlreadyExists, SkillWorkerError
from core.models import Change, ChangeStatus, Hit, Kind, Operation, Receipt, ReceiptStatus

EXCERPT_CHARS = 300

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
