"""Receipts of submitted changes, worded for the model (pure)."""

from __future__ import annotations

from core.domain.errors import AlreadyExists, SkillWorkerError
from core.domain.models import (
    Change,
    ChangeStatus,
    Hit,
    Kind,
    MergeMode,
    Operation,
    Receipt,
    ReceiptStatus,
    Relationship,
)

EXCERPT_CHARS = 300

_RECEIPTS = {
    ChangeStatus.PREPARED: ReceiptStatus.PREPARED,
    ChangeStatus.HELD: ReceiptStatus.HELD,
    ChangeStatus.STALE: ReceiptStatus.HELD,  # only a held change that went stale gets a receipt
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
    """Return the receipt of a stored change, which says so if it was reverted since."""
    status = _RECEIPTS[change.status]
    done = _DONE[change.operation]
    message = f"{change.kind} {change.target_name!r} {done}{_superseding(change)}"
    if change.status is ChangeStatus.PREPARED:
        message = f"dry run: {change.kind} {change.target_name!r} would be {done}"
    if status is ReceiptStatus.HELD:
        message = f"{change.kind} {change.target_name!r} will be {done} once a person approves it"
    if change.held and status in {ReceiptStatus.HELD, ReceiptStatus.PREPARED}:
        message += f"; it waits: {'; '.join(change.held)}"
    if change.status is ChangeStatus.REJECTED:
        message = _rejected(change)
    if status is ReceiptStatus.FAILED:
        message = change.error or f"{change.kind} {change.target_name!r} could not be {done}"
    if status is ReceiptStatus.APPLIED and change.kind is Kind.AGENT_SKILLS:
        status, message = ReceiptStatus.ATTACHED, f"the agent's skills are set: {_listed(change)}"
    if change.status is ChangeStatus.REVERTED:
        message += "; it was reverted since, and does not hold any more"
    return _receipt(change, status, message)


def _rejected(change: Change) -> str:
    by = f" by {change.decided_by}" if change.decided_by else ""
    why = f": {change.decision}" if change.decision else ""
    return f"{change.kind} {change.target_name!r} was rejected{by}{why}"


def known_receipt(change: Change) -> Receipt:
    """Return the receipt for a target that already says exactly this, and cite it."""
    if change.kind is Kind.AGENT_SKILLS:
        message = f"already attached, nothing changed: {_listed(change)}"
        return _receipt(change, ReceiptStatus.KNOWN, message, stored=False)
    message = f"already known, nothing changed: {change.kind} {change.target_name!r}"
    if change.kind is Kind.SKILL:
        message += "; where it is not on the agent's list, call attach_skills_to_agent"
    receipt = _receipt(change, ReceiptStatus.KNOWN, message, stored=False)
    return receipt.model_copy(update={"hits": _cited(change)})


def joined_receipt(waiting: Change) -> Receipt:
    """Return the receipt for a change identical to one already held, and cite that one."""
    receipt = receipt_of(waiting)
    said = f"already asked for, and nothing more to do: {receipt.message}"
    return receipt.model_copy(update={"message": said})


def failed_receipt(change: Change, error: SkillWorkerError) -> Receipt:
    """Return the receipt of a change that failed permanently."""
    message = f"{error.message}. {error.hint}" if error.hint else error.message
    return _receipt(change, ReceiptStatus.FAILED, message)


def exists_receipt(kind: Kind, operation: Operation, error: AlreadyExists) -> Receipt:
    """Return the refusal of a CREATE beside items of the same name or nearly the same content."""
    hits = tuple(
        Hit(
            id=found.item_id,
            kind=kind,
            name=found.name,
            excerpt=found.content[:EXCERPT_CHARS],
            score=found.score,
            why=found.why,
        )
        for found in (error, *error.others)
    )
    return Receipt(
        status=ReceiptStatus.REFUSED,
        message=f"{error.message}. {error.hint}",
        kind=kind,
        operation=operation,
        target_id=error.item_id,
        target_name=error.name,
        hits=hits,
    )


def _superseding(change: Change) -> str:
    """Return what an UPDATE superseded if it replaced the whole, else an empty text."""
    is_whole = change.merge_mode in (None, MergeMode.REPLACE)
    if change.operation is not Operation.UPDATE or not is_whole or change.reverts:
        return ""
    if change.merge_mode is None and change.relationship is not Relationship.SUPERSEDES:
        return ""
    version = change.before.version if change.before else None
    told = f"; it supersedes version {version} and" if version else "; it"
    return f"{told} replaces the whole of what was there"


def _cited(change: Change) -> tuple[Hit, ...]:
    if change.after is None:
        return ()
    excerpt = change.after.content[:EXCERPT_CHARS]
    hit = Hit(
        id=change.target_id,
        kind=change.kind,
        name=change.target_name,
        excerpt=excerpt,
        score=1.0,
        why="says exactly this",
    )
    return (hit,)


def _listed(change: Change) -> str:
    return ", ".join(change.after.content.splitlines()) if change.after else "none"


def _receipt(
    change: Change, status: ReceiptStatus, message: str, *, stored: bool = True
) -> Receipt:
    has_row = stored and change.status is not ChangeStatus.PREPARED
    return Receipt(
        status=status,
        message=message,
        change_id=change.id if has_row else None,
        kind=change.kind,
        operation=change.operation,
        target_id=change.target_id,
        target_name=change.target_name,
        warnings=change.warnings,
    )
