"""What happened, how things stood right after it, and which of it somebody watches."""

from __future__ import annotations

from datetime import datetime

from pydantic import ConfigDict, Field, JsonValue

from core.domain.models.base import Model
from core.domain.models.changes import ChangeStatus
from core.domain.models.feedback import NO_USAGE, FeedbackStatus, Usage
from core.domain.models.knowledge import Kind, Operation


class _Stood(Model):
    """A part of a state; what a newer schema adds to it is passed over."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class FeedbackState(_Stood):
    """How a piece stood; `usage` is what it has cost so far, over all its generations."""

    status: FeedbackStatus
    generation: int
    attempts: int
    usage: Usage = NO_USAGE


class CandidateState(_Stood):
    """What the runs of a candidate have cost so far, over all generations."""

    usage: Usage = NO_USAGE


class ChangeState(_Stood):
    """How a change stood; `held` are the reasons for which it waited for a person."""

    status: ChangeStatus
    kind: Kind
    operation: Operation
    target_id: str
    target_name: str
    held: tuple[str, ...] = ()
    decided_by: str | None = None


class EventState(_Stood):
    """What an event is about, as it stood right after it, in the same transaction."""

    feedback: FeedbackState | None = None
    candidate: CandidateState | None = None
    change: ChangeState | None = None


class RunEvent(Model):
    """Something that happened in a run; `name` is `noun.verb_past`.

    `id`, `at` and `state` are the journal's: who emits an event leaves them out.
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
    """Which events somebody watches; what is not set filters nothing."""

    tenant_id: str | None = None
    feedback_id: str | None = None
    names: tuple[str, ...] = ()


class PlacedEvent(Model):
    """An event and its place: who goes on from there gets what came after it."""

    place: str
    event: RunEvent


class FeedPage(Model):
    """Events in their lasting order, and the place to go on from.

    `is_full`: there may be more at once. `is_behind`: something has been written that cannot be
    put in order yet; it comes within moments.
    """

    events: tuple[PlacedEvent, ...] = ()
    place: str
    is_full: bool = False
    is_behind: bool = False
