"""Receipts of submitted changes, worded for the model (pure)."""

from __future__ import annotations

from core.changes.cases.judging import Tried
from core.changes.cases.wording import all_broken
from core.changes.policy.review_policy import named_briefly
from core.changes.said_order.settle import named
from core.domain.errors import AlreadyExists, SkillWorkerError
from core.domain.messages import Message, joined
from core.domain.models import (
    DENIED,
    Change,
    ChangeStatus,
    Hit,
    Kind,
    LaterWord,
    MergeMode,
    Operation,
    Receipt,
    ReceiptStatus,
    Relationship,
    Snapshot,
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
    Operation.CREATE: Message("receipt.created"),
    Operation.UPDATE: Message("receipt.updated"),
    Operation.DELETE: Message("receipt.deleted"),
}
_HAS_DONE = {  # some languages have another word for what is done already
    Operation.CREATE: Message("receipt.was_created"),
    Operation.UPDATE: Message("receipt.was_updated"),
    Operation.DELETE: Message("receipt.was_deleted"),
}
_NOT_DONE = {
    Operation.CREATE: Message("receipt.not_created"),
    Operation.UPDATE: Message("receipt.not_updated"),
    Operation.DELETE: Message("receipt.not_deleted"),
}


def overtaken_receipt(change: Change, word: LaterWord) -> Receipt:
    """Return the receipt of a change of which nothing stands beside what was said later."""
    message = Message("order.overtaken", kind=change.kind, name=change.target_name, **named(word))
    return _receipt(change, ReceiptStatus.OVERTAKEN, message)


def receipt_of(change: Change) -> Receipt:
    """Return the receipt of a stored change, which says so if it was reverted since."""
    status = _RECEIPTS[change.status]
    if status is ReceiptStatus.APPLIED and change.kind is Kind.AGENT_SKILLS:
        status = ReceiptStatus.APPLIED if _only_drops(change) else ReceiptStatus.ATTACHED
    return _receipt(change, status, _not_deleted(change, status, _told(change, status)))


def _told(change: Change, status: ReceiptStatus) -> str:
    named = {"kind": change.kind, "name": change.target_name}
    done = _DONE[change.operation]
    if status is ReceiptStatus.PREPARED:
        would = Message("receipt.dry_run", done=done, **named)
        return _waiting(change, would)
    if status is ReceiptStatus.HELD:
        will = Message("receipt.held", done=done, **named)
        return _waiting(change, will)
    if status is ReceiptStatus.REFUSED:
        return _rejected(change)
    if status is ReceiptStatus.FAILED:
        undone = _NOT_DONE[change.operation]
        return change.error or Message("receipt.failed", done=undone, **named)
    if change.kind is Kind.AGENT_SKILLS:
        message = _list_edited(change)
    else:
        done, over = _HAS_DONE[change.operation], _superseding(change)
        message = Message("receipt.done", done=done, over=over, **named)
    if change.status is ChangeStatus.REVERTED:
        return Message("receipt.reverted", receipt=message)
    return message


def _list_edited(change: Change) -> Message:
    if _only_drops(change):
        before, after = _names(change.before), _names(change.after)
        names = ", ".join(sorted(before - after))
        return Message("receipt.taken_off", names=names, agent=change.target_name)
    return Message("receipt.skills_set", names=_listed(change))


def _only_drops(change: Change) -> bool:
    """Whether a change of a list takes skills off it and adds none."""
    return _names(change.after) < _names(change.before)


def _not_deleted(change: Change, status: ReceiptStatus, message: str) -> str:
    """Add to the receipt of a deletion that became a change of the list who else has the skill."""
    is_list = change.kind is Kind.AGENT_SKILLS
    if not is_list or not change.listed_by or not status.is_outcome:
        return message
    agents = named_briefly(change.listed_by)
    return Message("receipt.others_list", receipt=message, agents=agents)


def _waiting(change: Change, message: Message) -> Message:
    if not change.held:
        return message
    why = joined(change.held)
    return Message("receipt.waits", receipt=message, why=why)


def _rejected(change: Change) -> str:
    by = Message("receipt.by", name=change.decided_by) if change.decided_by else ""
    return Message(
        "receipt.rejected",
        kind=change.kind,
        name=change.target_name,
        by=by,
        why=joined([": ", change.decision], "") if change.decision else "",
    )


def known_receipt(change: Change) -> Receipt:
    """Return the receipt for a target that already says exactly this, and cite it."""
    if change.kind is Kind.AGENT_SKILLS:
        message = Message("receipt.attached", names=_listed(change))
        return _receipt(change, ReceiptStatus.KNOWN, message, stored=False)
    message = Message("receipt.known", kind=change.kind, name=change.target_name)
    if change.kind is Kind.SKILL:
        message = Message("receipt.known_skill", receipt=message)
    receipt = _receipt(change, ReceiptStatus.KNOWN, message, stored=False)
    return receipt.model_copy(update={"hits": _cited(change)})


def joined_receipt(waiting: Change) -> Receipt:
    """Return the receipt for a change identical to one already held, and cite that one."""
    receipt = receipt_of(waiting)
    said = Message("receipt.joined", receipt=receipt.message)
    return receipt.model_copy(update={"message": said})


def with_findings(receipt: Receipt, change: Change) -> Receipt:
    """Return the receipt of a change that a person has approved, which says what is found in it."""
    if not change.findings:
        return receipt
    found = joined(dict.fromkeys(finding.text for finding in change.findings))
    told = Message("screen.approved_with", what=found)
    return receipt.model_copy(update={"warnings": (*receipt.warnings, told)})


def failed_receipt(change: Change, error: SkillWorkerError) -> Receipt:
    """Return the receipt of a change that failed permanently."""
    message = [error.message, error.hint] if error.hint else [error.message]
    return _receipt(change, ReceiptStatus.FAILED, joined(message, ". "))


def denied_receipt(change: Change, message: str) -> Receipt:
    """Return the receipt of a change that the policy or a hook does not let through."""
    receipt = _receipt(change, ReceiptStatus.REFUSED, message, stored=False)
    return receipt.model_copy(update={"category": DENIED})


def broken_receipt(tried: Tried) -> Receipt:
    """Return the refusal of a change that breaks cases, which names each of them."""
    what, hint = all_broken(tried.broken), Message("case.hint_broken")
    message = joined([Message("case.refused", n=len(tried.broken), what=what), hint], ". ")
    receipt = _receipt(tried.change, ReceiptStatus.REFUSED, message, stored=False)
    return receipt.model_copy(update={"broken": tried.tokens})


def exists_receipt(kind: Kind, operation: Operation, error: AlreadyExists) -> Receipt:
    """Return the refusal of a CREATE beside items of the same name or nearly the same content."""
    hits = tuple(
        Hit(
            id=found.item_id,
            kind=kind,
            name=found.name,
            excerpt=found.content[:EXCERPT_CHARS],
            score=found.score,
            agent_id=found.of or None,
            why=found.why,
            valid_until=found.valid_until,
        )
        for found in (error, *error.others)
    )
    return Receipt(
        status=ReceiptStatus.REFUSED,
        message=joined([error.message, error.hint], ". "),
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
    if not version:
        return Message("receipt.replaces")
    return Message("receipt.supersedes", version=version)


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
        why=Message("near.says_exactly_this"),
    )
    return (hit,)


def _listed(change: Change) -> str:
    return ", ".join(sorted(_names(change.after))) or Message("receipt.no_skills")


def _names(state: Snapshot | None) -> set[str]:
    return set(state.content.splitlines()) if state else set()


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
        said_at=change.said_at,
    )
