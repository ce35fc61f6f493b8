"""A change without its contents, for lists, decisions and the head of a review view."""

from __future__ import annotations

from datetime import datetime

from core.domain.models import (
    Change,
    ChangeStatus,
    Kind,
    MergeMode,
    Operation,
    Origin,
    Relationship,
)
from core.domain.models.base import Model
from core.domain.models.messages import Text


class ChangeHead(Model):
    """`held` says why it waits, `warnings` what the checks found; `content_hash` is what is
    approved: whoever decides gives it back as `seen`.
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
    held: tuple[Text, ...]
    warnings: tuple[Text, ...]
    content_hash: str
    feedback_id: str | None
    candidate_id: str | None
    reverts: str | None
    retracts: tuple[str, ...]
    error: Text | None
    edited_by: str | None
    decided_by: str | None
    decision: Text
    decided_at: datetime | None
    created_at: datetime | None
    applied_at: datetime | None


def head_of(change: Change) -> ChangeHead:
    """Return a change without its contents."""
    return ChangeHead.model_construct(
        **{name: getattr(change, name) for name in ChangeHead.model_fields}
    )
