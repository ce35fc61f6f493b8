"""How it goes, in figures: where things stand, what ended when, who works, in one word."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime
from enum import StrEnum

from core.models.base import Model
from core.models.changes import ChangeStatus
from core.models.costs import TenantBudget
from core.models.feedback import NO_USAGE, FeedbackStatus, Hold, Usage
from core.models.knowledge import Kind, Operation


class Standing(Model):
    """Where feedback stands. Ages are in seconds, 0 where nothing is of that age.

    `oldest_seconds` is the age of the oldest that is queued; `due_seconds` for how long the oldest
    waits that may be taken up: what waits for its next attempt is not due. `last_hour` and
    `last_minutes` (ten of them) are what ended, by status.
    """

    counts: Mapping[FeedbackStatus, int] = {}
    oldest_seconds: float = 0.0
    due_seconds: float = 0.0
    last_hour: Mapping[FeedbackStatus, int] = {}
    last_minutes: Mapping[FeedbackStatus, int] = {}


class EndedBucket(Model):
    """What ended in one step of time, which begins at `at`."""

    at: datetime
    by_status: Mapping[FeedbackStatus, int] = {}


class EndedSeries(Model):
    """What ended, step after step, the oldest first; the last step is still going on."""

    step_seconds: int
    buckets: tuple[EndedBucket, ...] = ()


class OutcomeCount(Model):
    """How many changes of a sort came to a status: of those begun in a day, and in 30 days."""

    kind: Kind
    operation: Operation
    status: ChangeStatus
    day: int = 0
    month: int = 0


class WaitingReviews(Model):
    """Changes that wait for a person, and the age of the oldest in seconds."""

    held: int = 0
    stale: int = 0
    oldest_seconds: float = 0.0


class WorkerSeen(Model):
    """A worker, and when it last gave a sign of life; it is silent once it counts as dead.

    `name` is None where it has told nothing of itself. `working` is the number of pieces that it
    has; `feedback_ids` are those of them that may be seen, at most a hundred.
    """

    id: int
    name: str | None = None
    host: str | None = None
    pid: int | None = None
    concurrency: int | None = None
    started_at: datetime | None = None
    last_heartbeat: datetime
    is_alive: bool
    working: int = 0
    feedback_ids: tuple[str, ...] = ()


class DaySpent(Model):
    """What all model calls of one day in UTC took."""

    day: date
    usage: Usage = NO_USAGE
    unpriced_calls: int = 0


class Word(StrEnum):
    """How it goes, at a glance."""

    IDLE = "idle"
    BUSY = "busy"
    HELD_BACK = "held_back"
    STUCK = "stuck"
    FAILING = "failing"


class Condition(Model):
    """How it goes, in one word and with the reason."""

    word: Word
    reason: str


class Overview(Model):
    """What people look at first.

    `checks` are those of /readyz; `holds` say why no worker begins new work, `at_budget` whose
    work is held back until the day ends. `today` goes by quarters of an hour, `month` by days.
    """

    at: datetime
    tenant_id: str | None = None
    condition: Condition
    checks: Mapping[str, str] = {}
    holds: tuple[Hold, ...] = ()
    at_budget: tuple[TenantBudget, ...] = ()
    standing: Standing
    ended_last_hour: int
    ended_per_minute: float
    today: EndedSeries
    month: EndedSeries
    outcomes: tuple[OutcomeCount, ...] = ()
    spent: tuple[DaySpent, ...] = ()
    currency: str
    reviews: WaitingReviews
    workers: tuple[WorkerSeen, ...] = ()
