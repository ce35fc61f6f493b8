"""Changes: what was prepared, what it came to, and its history."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum

from pydantic import Field

from core.domain.messages import Text
from core.domain.models.base import Fence, FileRef, Model, Snapshot
from core.domain.models.knowledge import Kind, MergeMode, Operation, Relationship
from core.domain.models.requests import ChangeRequest


class ChangeStatus(StrEnum):
    """Where a change stands. `prepared` and `applying` are open."""

    PREPARED = "prepared"
    HELD = "held"
    APPLYING = "applying"
    APPLIED = "applied"
    REJECTED = "rejected"
    STALE = "stale"
    FAILED = "failed"
    REVERTED = "reverted"


class Origin(StrEnum):
    """Who asks for a change: an agent's run, an import in bulk, or a person who decided it."""

    AGENT = "AGENT"
    IMPORT = "IMPORT"
    PERSON = "PERSON"


class ReceiptStatus(StrEnum):
    """What a submitted change came to, for the model and the verdict."""

    APPLIED = "applied"
    HELD = "held"
    KNOWN = "known"
    ATTACHED = "attached"
    PREPARED = "prepared"
    NO_ACTION = "no_action"
    REFUSED = "refused"
    FAILED = "failed"

    @property
    def is_outcome(self) -> bool:
        """True where the run has come to something and may end (contracts, section 2)."""
        return self not in {ReceiptStatus.REFUSED, ReceiptStatus.FAILED}


class Hit(Model):
    """One ranked item of a search; higher `score` is more similar."""

    id: str
    kind: Kind
    name: str
    excerpt: str
    score: float
    agent_id: str | None = None
    why: Text = ""


class KnownText(Model):
    """A known item with its text (of a rule and a skill: what is searched), and how near it is.

    `score` is that of the search, 0 to 1.
    """

    id: str
    kind: Kind
    name: str
    agent_id: str | None
    content: str
    score: float


class Nearby(Model):
    """What is known near a text, best first, and up to which document was looked.

    `seen` is the newest revision of a document of the agent and kind when the search began, 0
    where there was none; each that is written, new or old, gets a higher one. Those of one agent
    and kind are recorded one after another, so none appears below.
    """

    items: tuple[KnownText, ...] = ()
    seen: int = 0


class SubmitContext(Model):
    """On whose behalf a change is asked for, and its idempotency key.

    The key is made of thread, ordinal of the model's message and index of the call. `unjudged`
    are items that were written while the change was prepared: what the request says of others was
    not said of them. `shown` are the items that a run was shown as standing in the way; None where
    no run asks.
    """

    key: str
    tenant_id: str
    agent_id: str
    feedback_id: str | None = None
    feedback_content: str = ""
    candidate_content: str = ""
    fence: Fence | None = None
    unjudged: frozenset[str] = frozenset()
    shown: frozenset[str] | None = None
    origin: Origin = Origin.AGENT


class Prepared(Model):
    """What a committer made of a request; None as a state means that the target is absent.

    `blobs` carries the bytes behind the file references of `after`, by SHA-256. `seen` is the
    `Nearby.seen` of what it was compared with, None where it was not: what is new of another run
    since then is compared once more when it is recorded; 0 compares it with all.
    """

    kind: Kind
    target_id: str
    target_name: str
    operation: Operation
    before: Snapshot | None
    after: Snapshot | None
    base_hash: str
    blobs: Mapping[str, bytes] = Field(default_factory=dict)
    warnings: tuple[Text, ...] = ()
    reverts: str | None = None
    retracts: tuple[str, ...] = ()
    seen: int | None = None


class Change(Model):
    """A prepared change as it is stored: enough to apply it with neither model nor pod.

    `request` is what was asked for, to prepare it again. `held` says why it waited for a person,
    `content_hash` is of what it does: whoever approves it approves that, and nothing else.
    `prepared_at` moves where it is edited or prepared again, `created_at` does not.
    """

    id: str
    key: str
    digest: str
    tenant_id: str
    agent_id: str
    kind: Kind
    target_id: str
    target_name: str
    operation: Operation
    before: Snapshot | None
    after: Snapshot | None
    base_hash: str
    status: ChangeStatus
    reason: Text = ""
    merge_mode: MergeMode | None = None
    relationship: Relationship | None = None
    feedback_id: str | None = None
    feedback_content: str = ""
    candidate_id: str | None = None
    epoch: int | None = None
    attempt: int = 1
    warnings: tuple[Text, ...] = ()
    reverts: str | None = None
    retracts: tuple[str, ...] = ()
    seen: int | None = None
    error: Text | None = None
    origin: Origin = Origin.AGENT
    request: ChangeRequest | None = None
    candidate_content: str = ""
    held: tuple[Text, ...] = ()
    content_hash: str = ""
    edited_by: str | None = None
    decided_by: str | None = None
    decision: Text = ""
    decided_at: datetime | None = None
    reminded_at: datetime | None = None
    prepared_at: datetime | None = None
    created_at: datetime | None = None
    applied_at: datetime | None = None

    @property
    def undoes(self) -> tuple[str, ...]:
        """The ids of the changes that it takes back."""
        return (self.reverts,) if self.reverts is not None else self.retracts


class DuplicateWaiter(Model):
    """A piece of feedback that said what was known already: `hash` is of the state it said.

    `change_id` is of the change that waited for a person then, and says it.
    """

    feedback_id: str
    kind: Kind
    target_id: str
    hash: str
    change_id: str | None = None
    at: datetime


class Receipt(Model):
    """What a submitted change came to. `hits` are the items a refusal points at."""

    status: ReceiptStatus
    message: Text
    change_id: str | None = None
    kind: Kind | None = None
    operation: Operation | None = None
    target_id: str | None = None
    target_name: str | None = None
    warnings: tuple[Text, ...] = ()
    hits: tuple[Hit, ...] = ()
    category: str | None = None


class HistoryStatus(StrEnum):
    """What became of the attempt that a history record stands for."""

    APPLIED = "applied"
    FAILED = "failed"
    REVERTED = "reverted"


class HistoryRecord(Model):
    """The audit row of an applied or attempted change (contracts, section 8)."""

    id: str
    knowledge_type: Kind
    knowledge_id: str
    knowledge_name: str
    agent_id: str
    tenant_id: str
    operation: Operation
    previous_content: str | None
    new_content: str | None
    previous_files: Mapping[str, FileRef] | None = None
    new_files: Mapping[str, FileRef] | None = None
    feedback_content: str
    feedback_id: str | None
    change_id: str
    attempt: int
    status: HistoryStatus
    error: Text | None = None
    created_at: datetime | None = None
