"""A change without its contents, for lists, decisions and the head of a review view."""

from __future__ import annotations

from datetime import datetime

from core.domain.models import (
    Change,
    ChangeStatus,
    Finding,
    Kind,
    MergeMode,
    Operation,
    Origin,
    Reach,
    Relationship,
)
from core.domain.models.base import Model, Text


class ChangeHead(Model):
    """`held` says why it waits, `warnings` what the checks found; `content_hash` is what is
    approved: whoever decides gives it back as `seen`. `reach` is how long and for whom a memory
    holds after it, `reach_was` before it. `breaks` are ids of cases that it breaks. `findings` are
    those of the screen; in a list it is not looked up which are allowed. `contradicts` is the
    applied change that it would override, "" if that is not known: approving takes this one,
    rejecting keeps what is there.
    """

    id: str
    kind: Kind
    operation: Operation
    target_id: str
    target_name: str
    tenant_id: str
    agent_id: str
    status: ChangeStatus
    origin: Origin
    reason: Text
    merge_mode: MergeMode | None
    relationship: Relationship | None
    reach: Reach | None
    reach_was: Reach | None
    held: tuple[Text, ...]
    warnings: tuple[Text, ...]
    findings: tuple[Finding, ...]
    breaks: tuple[str, ...]
    content_hash: str
    feedback_id: str | None
    candidate_id: str | None
    reverts: str | None
    retracts: tuple[str, ...]
    error: Text | None
    edited_by: str | None
    contradicts: str | None
    decided_by: str | None
    decision: Text
    decided_at: datetime | None
    created_at: datetime | None
    applied_at: datetime | None


def head_of(change: Change) -> ChangeHead:
    """Return a change without its contents."""
    is_memory = change.kind is Kind.MEMORY
    states = {"reach": change.after, "reach_was": change.before}
    known = {name: state.reach for name, state in states.items() if state and is_memory}
    stored = ChangeHead.model_fields.keys() - states.keys()
    return ChangeHead.model_construct(
        **{name: getattr(change, name) for name in stored},
        reach=known.get("reach"),
        reach_was=known.get("reach_was"),
    )
