"""Read models for people: overview, lists, versions with their causes, lineage."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime
from enum import StrEnum

from core.domain.models.base import Model, Scope, Snapshot, Text
from core.domain.models.cases import CaseCounts, ItemKey
from core.domain.models.changes import ChangeStatus, Hit, Origin, Receipt
from core.domain.models.costs import TenantBudget
from core.domain.models.feedback import NO_USAGE, FeedbackStatus, Pause, Usage
from core.domain.models.knowledge import Kind, Operation, Relationship


class ListedSkill(Model):
    """A skill on an agent's list, and the ids of the other agents that list it too."""

    name: str
    shared_with: tuple[str, ...] = ()


class Standing(Model):
    """The state of the queue. Ages are in seconds, 0 if nothing qualifies.

    `oldest_seconds` is the age of the oldest queued feedback, `due_seconds` how long the oldest
    that may start has waited: what waits for its next attempt is not due. `last_hour` and
    `last_minutes` (ten of them) count what ended, by status.
    """

    counts: Mapping[FeedbackStatus, int] = {}
    oldest_seconds: float = 0.0
    due_seconds: float = 0.0
    last_hour: Mapping[FeedbackStatus, int] = {}
    last_minutes: Mapping[FeedbackStatus, int] = {}


class EndedBucket(Model):
    """What ended in one time step, which begins at `at`."""

    at: datetime
    by_status: Mapping[FeedbackStatus, int] = {}


class EndedSeries(Model):
    """What ended, step by step, oldest first; the last step is still in progress."""

    step_seconds: int
    buckets: tuple[EndedBucket, ...] = ()


class OutcomeCount(Model):
    """How many changes of a kind and operation have a status: begun within a day, and 30 days."""

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
    """A worker and its last sign of life; `is_alive` is false once it counts as dead.

    `name` is None if it has not introduced itself. `working` is its number of pieces in progress;
    `feedback_ids` are those of them the caller may see, at most a hundred.
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
    """The usage of all model calls on one day in UTC."""

    day: date
    usage: Usage = NO_USAGE
    unpriced_calls: int = 0


class Word(StrEnum):
    """The state of health at a glance."""

    IDLE = "idle"
    BUSY = "busy"
    HELD_BACK = "held_back"
    STUCK = "stuck"
    FAILING = "failing"


class Condition(Model):
    """The state of health in one word, and the reason."""

    word: Word
    reason: Text


class Overview(Model):
    """The start page.

    `checks` are those of /readyz; `holds` are why no worker starts new work, `at_budget` the
    tenants whose work is blocked until the day ends. `today` has a bucket per quarter of an hour,
    `month` one per day.
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
    """The author of a message: the run's first message, the model, a tool, or a nudge to act."""

    START = "start"
    MODEL = "model"
    TOOL = "tool"
    NUDGE = "nudge"


class ToolUse(Model):
    """A tool call by the model; `arguments` is JSON. `key` identifies it in events."""

    key: str
    tool: str
    arguments: str
    cut: bool = False


class Said(Model):
    """One message of a thread. `cut`: `text` is the beginning of a longer one.

    `ordinal` is that of the model's message; a tool's answer has that of the message that asked. An
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
    """Filter a list of items; None matches any.

    `expired`: those instead whose time is over; `archived`: those that a person has put away.
    """

    tenant_id: str | None = None
    agent_id: str | None = None
    kind: Kind | None = None
    expired: bool = False
    archived: bool = False


class Listed(Model):
    """An item in a list; `excerpt` is the beginning of its text in the search index.

    `archived_at` is when a person put it away, by `change_id`; None of what stands.
    """

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
    valid_until: datetime | None = None
    scope: Scope = Scope.AGENT
    user: str | None = None
    cases: CaseCounts = CaseCounts()
    archived_at: datetime | None = None

    @property
    def key(self) -> ItemKey:
        """What names it in all tenants."""
        return self.tenant_id, self.kind, self.id


class Cause(Model):
    """What caused a version: the change, the feedback's words, and who decided about it.

    `author` and `said_at` are the feedback's; `origin` is None if the change is no longer stored.
    """

    change_id: str
    origin: Origin | None = None
    reason: Text = ""
    reverts: str | None = None
    feedback_id: str | None = None
    feedback: str = ""
    author: str | None = None
    said_at: datetime | None = None
    edited_by: str | None = None
    decided_by: str | None = None
    decision: Text = ""
    decided_at: datetime | None = None


class Version(Model):
    """A version of an item and its period of validity; `version` is None for a deletion.

    `takes_back`: the change reverted or retracted others.
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
    """What one change did to an item: its state before and after, None if absent."""

    before: Snapshot | None = None
    after: Snapshot | None = None

    def alone(self) -> Version:
        """Return the version without the states."""
        return Version(**{name: getattr(self, name) for name in Version.model_fields})


class Taught(Model):
    """A piece of feedback taught an item that is known now; `words` is its beginning."""

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
    """The version of one schema: the newest in the database (None: none) and the one required."""

    current: str | None
    head: str
    up_to_date: bool
    newer_than_code: bool


class CopiedTable(Model):
    """A table of a database that was copied, and how many rows both sides have."""

    table: str
    rows: int


class MigrationStatus(Model):
    """The schemas: ours, the job engine's, and that of the LangGraph saver.

    `tenants` are the policies that keep tenants apart; `vectors` is the schema of semantic search,
    None if no embedding model is configured.
    """

    ours: SchemaVersion
    procrastinate: SchemaVersion
    saver: SchemaVersion
    tenants: SchemaVersion
    vectors: SchemaVersion | None = None

    @property
    def up_to_date(self) -> bool:
        """Whether nothing is left to migrate."""
        return all(part.up_to_date for part in self._parts)

    @property
    def newer_than_code(self) -> bool:
        """Whether a newer program has migrated the database."""
        return any(part.newer_than_code for part in self._parts)

    @property
    def _parts(self) -> tuple[SchemaVersion, ...]:
        parts = (self.ours, self.procrastinate, self.saver, self.tenants)
        return parts if self.vectors is None else (*parts, self.vectors)
