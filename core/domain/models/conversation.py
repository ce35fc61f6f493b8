"""What was said before in the conversation that a piece of feedback belongs to."""

from __future__ import annotations

from datetime import datetime

from pydantic import JsonValue

from core.domain.models.base import Model
from core.domain.models.changes import ChangeStatus
from core.domain.models.knowledge import Kind, Operation


class Lesson(Model):
    """What a piece taught an agent.

    `status` is None for what was known already when it was said. `known` is the text of the item
    as it stands, None if it is gone or not there yet; `before` is a memory's text before the
    change.
    """

    kind: Kind
    id: str
    name: str
    operation: Operation
    status: ChangeStatus | None = None
    agent_id: str
    known: str | None = None
    before: str | None = None


class EarlierPiece(Model):
    """One piece of the conversation; `is_answered` marks the one that is replied to."""

    id: str
    said_at: datetime | None = None
    author: str | None = None
    content: str
    output: JsonValue = None
    is_answered: bool = False
    taught: tuple[Lesson, ...] = ()
