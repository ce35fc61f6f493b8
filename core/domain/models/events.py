"""Events: what happened, the state right after it, and filters for subscribers."""

from __future__ import annotations

from datetime import datetime

from pydantic import ConfigDict, Field, JsonValue

from core.domain.models.base import Model
from core.domain.models.changes import ChangeStatus
from core.domain.models.feedback import NO_USAGE, FeedbackStatus, Usage
from core.domain.models.knowledge import Kind, Operation


class _Stood(Model):
    """Part of a state; fields that a newer schema adds are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class FeedbackState(_Stood):
    """The state of feedback; `usage` is its cost so far, over all generations."""

    status: FeedbackStatus
    generation: int
    attempts: int
    usage: Usage = NO_USAGE


class CandidateState(_Stood):
    """The cost of a candidate's runs so far, over all generations."""

    usage: Usage = NO_USAGE


class ChangeState(_Stood):
    """The state of a change. Events of older releases also had its name and why it waited."""

    status: ChangeStatus
    kind: Kind
    operation: Operation
    target_id: str
    target_name: str = ""
    held: tuple[str, ...] = ()
    decided_by: str | None = None


class EventState(_Stood):
    """The state of an event's subject right after it, read in the same transaction."""

    feedback: FeedbackState | None = None
    candidate: CandidateState | None = None
    change: ChangeState | None = None


class RunEvent(Model):
    """Something that happened in a run; `name` is `noun.verb_past`.

    `id`, `at` and `state` are set by the journal; emitters leave them out.
    """

    name: str
    id: int | None = None
    at: datetime | None = None
    tenant_id: str | None = None
    feedback_id: str | None = None
    candidate_id: str | None = None
    change_id: str | None = None
    data: dict[str, JsonValue] = Field(default_factory=dict)
    state: EventState = EventState()


class EventFilter(Model):
    """Which events a subscriber wants; unset fields filter nothing."""

    tenant_id: str | None = None
    feedback_id: str | None = None
    names: tuple[str, ...] = ()


class PlacedEvent(Model):
    """An event with its cursor: reading on from there returns what came after it."""

    cursor: str
    event: RunEvent


class FeedPage(Model):
    """Events in their permanent order, and the cursor to continue from.

    `is_full`: more may be available at once. `is_behind`: something has been written that cannot be
    ordered yet; it follows within moments.
    """

    events: tuple[PlacedEvent, ...] = ()
    cursor: str
    is_full: bool = False
    is_behind: bool = False
