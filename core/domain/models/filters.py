"""Filters of lists; unset fields filter nothing."""

from __future__ import annotations

from datetime import datetime

from core.domain.models.base import Model
from core.domain.models.changes import ChangeStatus, HistoryStatus
from core.domain.models.feedback import FeedbackStatus
from core.domain.models.knowledge import Kind


class FeedbackFilter(Model):
    """Filter feedback; `since` is inclusive, `until` exclusive, both by creation time.

    `text` matches part of its content, case-insensitively, or of its id. Where `text` or `agent_id`
    is rare, a page may have fewer items than requested, even none, and still be followed by
    another.
    """

    statuses: tuple[FeedbackStatus, ...] = ()
    tenant_id: str | None = None
    agent_id: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    text: str | None = None


class ChangeFilter(Model):
    """Filter changes; `target_id` is the id of the changed item."""

    statuses: tuple[ChangeStatus, ...] = ()
    tenant_id: str | None = None
    agent_id: str | None = None
    kind: Kind | None = None
    feedback_id: str | None = None
    target_id: str | None = None


class HistoryFilter(Model):
    """Filter history; `item_id` is the id of the changed item."""

    statuses: tuple[HistoryStatus, ...] = ()
    tenant_id: str | None = None
    agent_id: str | None = None
    kind: Kind | None = None
    feedback_id: str | None = None
    item_id: str | None = None
