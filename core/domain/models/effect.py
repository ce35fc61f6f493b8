"""What learnt items did: how often they reached an agent, what followed, and what is proposed."""

from __future__ import annotations

from datetime import date, datetime
from enum import StrEnum

from core.domain.models.base import Model, Page
from core.domain.models.knowledge import Kind


class Came(StrEnum):
    """When a complaint near what taught an item was said.

    Before the item was learnt; after, though it had not reached the agent yet; or after it had.
    """

    BEFORE = "before"
    UNREACHED = "unreached"
    BACK = "back"


class Judgement(StrEnum):
    """Whether tasks end better with an item than without it."""

    HELPS = "helps"
    HARMS = "harms"
    UNDECIDED = "undecided"


class Basis(StrEnum):
    """What a judgement rests on: a holdout, or tasks of the same agent that happened to differ."""

    HOLDOUT = "holdout"
    OBSERVED = "observed"


class Ended(Model):
    """How many tasks ended well, and how many did not."""

    success: int = 0
    failure: int = 0

    @property
    def total(self) -> int:
        """The number of tasks."""
        return self.success + self.failure


class Trial(Model):
    """Tasks with an item and without it; `p` is of Fisher's exact test, two-sided.

    `p` is None while either side has fewer than five tasks.
    """

    basis: Basis
    judgement: Judgement
    p: float | None
    given: Ended
    without: Ended


class ItemEffect(Model):
    """The effect of one item on one agent.

    `shown` counts how often it was found or put into a context, `opened` how often it decided or
    was loaded, `used` the reported tasks that name it, which `ended` divides by their end.
    `contradicted` counts later changes that conflict with it or supersede it. `before`, `unreached`
    and `back` are complaints near what taught it.
    """

    tenant_id: str
    agent_id: str
    kind: Kind
    item_id: str
    name: str
    version: int
    learnt_at: datetime | None
    shown: int
    opened: int
    used: int
    ended: Ended
    contradicted: int
    first_at: datetime | None
    last_at: datetime | None
    before: int
    unreached: int
    back: int
    trial: Trial


class Only(StrEnum):
    """Which items a list of effects is restricted to."""

    HELPS = "helps"
    HARMS = "harms"
    UNREACHED = "unreached"
    BACK = "back"


class EffectFilter(Model):
    """Whose items, of which agent, and which of them."""

    tenant_id: str | None = None
    agent_id: str | None = None
    only: Only | None = None


class EffectDay(Model):
    """One day in UTC: how often items reached agents, how tasks ended, what came back."""

    day: date
    shown: int
    opened: int
    success: int
    failure: int
    back: int


class Action(StrEnum):
    """What is proposed for an item."""

    ARCHIVE = "archive"
    REWRITE = "rewrite"


class ProposalStatus(StrEnum):
    """What became of a proposal."""

    WAITING = "waiting"
    ACCEPTED = "accepted"
    DISMISSED = "dismissed"


class Proposal(Model):
    """What a person is asked about an item: archive what reached nobody, rewrite what recurs.

    `back` is how many complaints came back, `last_id` the last of them; `unused_since` is when it
    last reached anyone, None: never.
    `change_id` is what archived it, `feedback_id` what asks for it to be rewritten.
    """

    id: str
    tenant_id: str
    agent_id: str
    kind: Kind
    item_id: str
    name: str
    action: Action
    status: ProposalStatus
    created_at: datetime
    decided_at: datetime | None = None
    decided_by: str | None = None
    change_id: str | None = None
    feedback_id: str | None = None
    back: int = 0
    last_id: str | None = None
    unused_since: datetime | None = None


class EffectCounts(Model):
    """How many items, each counted once an agent, are known, reached nobody, or came back."""

    known: int = 0
    unreached: int = 0
    back: int = 0
    proposals: int = 0


class EffectOverview(Model):
    """The figures of a tenant or of all: counts, days oldest first, and what waits for a person."""

    tenant_id: str | None
    counts: EffectCounts
    days: tuple[EffectDay, ...]
    proposals: tuple[Proposal, ...]


class EffectPage(Page[ItemEffect]):
    """A page of effects."""


class EndedPiece(Model):
    """A piece of feedback that has ended, to be compared with what taught known items."""

    id: str
    tenant_id: str
    agent_ids: tuple[str, ...]
    content: str
    said_at: datetime
    finished_at: datetime


class Lesson(Model):
    """What taught an item to an agent: the feedback's words, and when.

    `reached_at` is when the item first reached the agent.
    """

    kind: Kind
    item_id: str
    feedback_id: str
    words: str
    learnt_at: datetime
    reached_at: datetime | None = None


class Complaint(Model):
    """Feedback that is near what taught an item."""

    tenant_id: str
    agent_id: str
    kind: Kind
    item_id: str
    feedback_id: str
    said_at: datetime
    came: Came
