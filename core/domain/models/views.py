"""What people look at of what is known: lists, versions with what brought them, who taught what."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime
from enum import StrEnum

from core.domain.models.base import Model, Snapshot
from core.domain.models.changes import ChangeStatus, Hit, Origin, Receipt
from core.domain.models.costs import TenantBudget
from core.domain.models.feedback import NO_USAGE, FeedbackStatus, Pause, Usage
from core.domain.models.knowledge import Kind, Operation, Relationship


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
    holds: tuple[Pause, ...] = ()
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


class Speaker(StrEnum):
    """Who speaks: what the run starts from, the model, a tool, or a nudge to act."""

    START = "start"
    MODEL = "model"
    TOOL = "tool"
    NUDGE = "nudge"


class ToolUse(Model):
    """A call that the model asked for; `arguments` is JSON. `key` names it in events."""

    key: str
    tool: str
    arguments: str
    cut: bool = False


class Said(Model):
    """One message of a thread. `cut`: `text` is the beginning of a longer one.

    `ordinal` is that of the model's message, for a tool's answer the one that asked for it. An
    answer carries the `key` of its call, the hits of a search, and the receipt of a write.
    """

    speaker: Speaker
    ordinal: int
    text: str
    cut: bool = False
    calls: tuple[ToolUse, ...] = ()
    key: str = ""
    tool: str = ""
    failed: bool = False
    hits: tuple[Hit, ...] = ()
    receipt: Receipt | None = None


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


class SchemaVersion(Model):
    """One schema: the newest version the database has (None: none) and the one we want."""

    current: str | None
    head: str
    up_to_date: bool
    newer_than_code: bool


class MigrationStatus(Model):
    """The schemas: ours, the job engine's, and that of the saver of ReAct runs.

    `vectors` is that of search by meaning, None where no embedding model asks for it.
    """

    ours: SchemaVersion
    procrastinate: SchemaVersion
    saver: SchemaVersion
    vectors: SchemaVersion | None = None

    @property
    def up_to_date(self) -> bool:
        """True where nothing is left to migrate."""
        return all(part.up_to_date for part in self._parts)

    @property
    def newer_than_code(self) -> bool:
        """True where a newer program has migrated the database."""
        return any(part.newer_than_code for part in self._parts)

    @property
    def _parts(self) -> tuple[SchemaVersion, ...]:
        parts = (self.ours, self.procrastinate, self.saver)
        return parts if self.vectors is None else (*parts, self.vectors)
