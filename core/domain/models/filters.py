"""Which part of a list is asked for; what is not set filters nothing."""

from __future__ import annotations

from datetime import datetime

from core.domain.models.base import Model
from core.domain.models.changes import ChangeStatus, HistoryStatus
from core.domain.models.feedback import FeedbackStatus
from core.domain.models.knowledge import Kind


class FeedbackFilter(Model):
    """`since` is the first moment of its creation, `until` the first one that is out.

    `text` is part of its content, whatever its case, or of its id. Where `text` or `agent_id` is
    rare a page may have fewer items than were asked for, none even, and still be followed by one.
    """

    statuses: tuple[FeedbackStatus, ...] = ()
    tenant_id: str | None = None
    agent_id: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    text: str | None = None


class ChangeFilter(Model):
    """`target_id` is the id of the item that is changed."""

    statuses: tuple[ChangeStatus, ...] = ()
    tenant_id: str | None = None
    agent_id: str | None = None
    kind: Kind | None = None
    feedback_id: str | None = None
    target_id: str | None = None


class HistoryFilter(Model):
    """`item_id` is the id of what was changed."""

    statuses: tuple[HistoryStatus, ...] = ()
    tenant_id: str | None = None
    agent_id: str | None = None
    kind: Kind | None = None
    feedback_id: str | None = None
    item_id: str | None = None
