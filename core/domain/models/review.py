"""The review queue: the position of held changes, and one of them as a reviewer opens it."""

from __future__ import annotations

from datetime import datetime

from core.domain.models.base import Model
from core.domain.models.changes import Change
from core.domain.models.costs import ChangeCost
from core.domain.models.feedback import FeedbackStatus, Usage


class QueuePosition(Model):
    """A change's position among those waiting, oldest first; `following` wraps around.

    `position` counts from 1 and is None once the change is decided.
    """

    waiting: int = 0
    position: int | None = None
    previous: str | None = None
    following: tuple[str, ...] = ()


class Cause(Model):
    """The feedback behind a change."""

    id: str
    content: str
    author: str | None = None
    task: str = ""
    source: str
    status: FeedbackStatus
    created_at: datetime | None = None


class Matched(Model):
    """The matcher's candidate for one agent, and what its runs have cost."""

    agent_name: str = ""
    content: str
    intent_hint: str = ""
    usage: Usage = Usage()


class OpenedChange(Model):
    """A change as a reviewer opens it; `cause` and `matched` are None if unknown.

    `undone_by` is the change that reverted it, None if it stands or nothing was left to revert.
    """

    change: Change
    cause: Cause | None = None
    matched: Matched | None = None
    queue_position: QueuePosition = QueuePosition()
    cost: ChangeCost = ChangeCost()
    undone_by: str | None = None

    @property
    def tenant_id(self) -> str:
        """The tenant of the change."""
        return self.change.tenant_id
