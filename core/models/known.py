"""What people look at of what is known: lists, versions with what brought them, who taught what."""

from __future__ import annotations

from datetime import datetime

from core.models.base import Model
from core.models.changes import Origin
from core.models.knowledge import Kind, Operation, Relationship
from core.models.states import Snapshot


class KnowledgeFilter(Model):
    """Which items a list is of; None for any."""

    tenant_id: str | None = None
    agent_id: str | None = None
    kind: Kind | None = None


class Listed(Model):
    """An item as a list shows it; `excerpt` is the beginning of what search knows of it."""

    id: str
    kind: Kind
    tenant_id: str
    agent_id: str
    name: str
    excerpt: str = ""
    version: int = 1
    valid_from: datetime | None = None
    relationship: Relationship | None = None
    change_id: str | None = None
    feedback_id: str | None = None


class Cause(Model):
    """What brought a version: the change, the words of the feedback, and who decided about it.

    `author` and `said_at` are the feedback's; `origin` is None where the change is not kept.
    """

    change_id: str
    origin: Origin | None = None
    reason: str = ""
    reverts: str | None = None
    feedback_id: str | None = None
    feedback: str = ""
    author: str | None = None
    said_at: datetime | None = None
    edited_by: str | None = None
    decided_by: str | None = None
    decision: str = ""
    decided_at: datetime | None = None


class Version(Model):
    """A version of an item and the span it held; `version` is None for a deletion.

    `takes_back` where the change reverted or retracted others.
    """

    version: int | None
    operation: Operation
    name: str
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    relationship: Relationship | None = None
    takes_back: bool = False
    by: Cause


class Made(Version):
    """What one change made of an item: its state before and after, None where it was absent."""

    before: Snapshot | None = None
    after: Snapshot | None = None

    def alone(self) -> Version:
        """Give the version without the states."""
        return Version(**{name: getattr(self, name) for name in Version.model_fields})


class Taught(Model):
    """That a piece of feedback taught an item that is known now; `words` is its beginning."""

    feedback_id: str
    author: str | None = None
    words: str = ""
    kind: Kind
    item_id: str
    name: str
    agent_id: str
    operation: Operation
    change_id: str
    at: datetime | None = None


class KnownCount(Model):
    """How many items of a kind an agent knows."""

    agent_id: str
    kind: Kind
    count: int
