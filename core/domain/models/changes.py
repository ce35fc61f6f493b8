"""Changes: what was prepared, how it ended, and its history."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum

from pydantic import Field

from core.domain.models.base import (
    UNBOUNDED,
    Fence,
    FileRef,
    Model,
    Reach,
    Scope,
    Snapshot,
    Text,
    absent,
)
from core.domain.models.cases import Case, CasesTried
from core.domain.models.findings import Finding
from core.domain.models.knowledge import Kind, MergeMode, Operation, Relationship
from core.domain.models.requests import ChangeRequest, Lister


class ChangeStatus(StrEnum):
    """The state of a change. `prepared` and `applying` are open."""

    PREPARED = "prepared"
    HELD = "held"
    APPLYING = "applying"
    APPLIED = "applied"
    REJECTED = "rejected"
    STALE = "stale"
    FAILED = "failed"
    REVERTED = "reverted"


class Origin(StrEnum):
    """Who asks for a change: an agent's run, a bulk import, or a person.

    OUTSIDE: nobody asked, it was found in the store of skills, made there past the gate.
    WORKER: the worker proposes a lesson about its own work.
    """

    AGENT = "AGENT"
    IMPORT = "IMPORT"
    PERSON = "PERSON"
    OUTSIDE = "OUTSIDE"
    WORKER = "WORKER"


class ReceiptStatus(StrEnum):
    """The result of submitting a change, for the model and the verdict."""

    APPLIED = "applied"
    HELD = "held"
    KNOWN = "known"
    ATTACHED = "attached"
    PREPARED = "prepared"
    NO_ACTION = "no_action"
    OVERTAKEN = "overtaken"
    REFUSED = "refused"
    FAILED = "failed"

    @property
    def is_outcome(self) -> bool:
        """Whether the run has reached an outcome and may end (contracts, section 2)."""
        return self not in {ReceiptStatus.REFUSED, ReceiptStatus.FAILED}


DENIED = "denied"  # the category of a receipt that the policy refused


class Hit(Model):
    """One ranked item of a search; higher `score` is more similar.

    `taught_at` is when what it says was said, of memories and decision tables; `valid_until`,
    `scope` and `user` are the reach of a memory.
    """

    id: str
    kind: Kind
    name: str
    excerpt: str
    score: float
    agent_id: str | None = None
    why: Text = ""
    taught_at: datetime | None = None
    valid_until: datetime | None = None
    scope: Scope = Scope.AGENT
    user: str | None = None


class KnownText(Model):
    """A known item with its text (for rules and skills, the text that is searched).

    `score` is its similarity in the search, 0 to 1, `closeness` that in meaning if it is known.
    When it was taught and its reach are as of a `Hit`.
    """

    id: str
    kind: Kind
    name: str
    agent_id: str | None
    content: str
    score: float
    closeness: float | None = None
    taught_at: datetime | None = None
    valid_until: datetime | None = None
    scope: Scope = Scope.AGENT
    user: str | None = None


class Nearby(Model):
    """What is known near a text, best first, and the newest revision that was searched.

    `seen` is the newest revision of a document of the kind, of the agent or the whole tenant, when
    the search began, 0 if there was none; each written later, new or changed, gets a higher one.
    Documents of one agent and kind are recorded one after another, and none beside one of the whole
    tenant, so none can appear below it.
    """

    items: tuple[KnownText, ...] = ()
    seen: int = 0


class Compared(Model):
    """What a caller already knows to stand near a text, best first.

    `is_all`: nothing else need be searched for, and neither id nor text is taken.
    """

    items: tuple[KnownText, ...] = ()
    is_all: bool = False


class Asker(Model):
    """Who has given the feedback that a change is asked for with, and by which source it came.

    `roles` are those of the token it was given with; a policy may give more to the author.
    `is_accepted`: a person has approved something that the author taught; None where no rule asks.
    """

    author: str | None = None
    source: str | None = None
    is_accepted: bool | None = None
    roles: frozenset[str] = frozenset()


class SubmitContext(Model):
    """On whose behalf a change is requested, and its idempotency key.

    The key consists of thread, ordinal of the model's message and index of the call. `unjudged` are
    items written while the change was prepared, which the request cannot have taken into account.
    `shown` are the conflicting items that the run was shown; None if no run asks. `compared` are
    items to compare with, of which a search does not know yet. `told` are the cases that the run
    was told it would break; None if no run asks, which could mend it. `said_at` and `heard_at` are
    when its feedback was said and came in; without them it is said now. `author` is the end user
    who gave it, `source` where it came in, `roles` those of the token it was given with; without a
    source there is no feedback. `expects` is the hash of the state that the target must still have.
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
    told: frozenset[str] | None = None
    origin: Origin = Origin.AGENT
    compared: Compared | None = None
    said_at: datetime | None = None
    heard_at: datetime | None = None
    author: str | None = None
    source: str | None = None
    roles: frozenset[str] = frozenset()
    expects: str | None = None

    @property
    def asker(self) -> Asker | None:
        """Who asks for the change; None if no feedback does."""
        if self.source is None:
            return None
        return Asker(author=self.author, source=self.source, roles=self.roles)


class Prepared(Model):
    """What a committer made of a request; a state of None means that the target is absent.

    `blobs` carries the bytes behind the file references of `after`, by SHA-256. `seen` is the
    `Nearby.seen` of the items it was compared with, None if it was not: what other runs have added
    since is compared again when it is recorded; 0 compares with everything. `listed_by` are the
    other agents that list a skill whose deletion was asked for. `published` are the
    files of a skill that is installed, as they were published.
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
    listed_by: tuple[Lister, ...] = ()
    published: Mapping[str, FileRef] | None = None


class Change(Model):
    """A prepared change as stored: enough to apply it with neither model nor pod.

    `request` is the original request, for preparing it again. `held` lists why it waited for a
    person; `content_hash` covers what it does, so that exactly what was approved is applied.
    `prepared_at` moves when it is edited or prepared again, `created_at` does not. Changes of a
    target count in the order of (`said_at`, `heard_at`), whenever they are applied. `contradicts`
    is the applied change that it would override ("" if unknown): a person decides between the two.
    `proposed` is what the agent wrote, where a person has edited it. `findings` are those of the
    screen. `cases` come with it, `retires` names older ones that give way to it, and `breaks` those
    that it would break. `asker` and `tried` are known only while it is submitted, and not stored.
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
    contradicts: str | None = None
    proposed: Snapshot | None = None
    findings: tuple[Finding, ...] = ()
    cases: tuple[Case, ...] = Field(default=(), exclude_if=absent)
    retires: tuple[str, ...] = Field(default=(), exclude_if=absent)
    breaks: tuple[str, ...] = Field(default=(), exclude_if=absent)
    decided_by: str | None = None
    decision: Text = ""
    decided_at: datetime | None = None
    reminded_at: datetime | None = None
    said_at: datetime | None = None
    heard_at: datetime | None = None
    prepared_at: datetime | None = None
    created_at: datetime | None = None
    applied_at: datetime | None = None
    asker: Asker | None = Field(default=None, exclude=True)
    tried: CasesTried | None = Field(default=None, exclude=True)

    @property
    def undoes(self) -> tuple[str, ...]:
        """The ids of the changes that it reverts."""
        return (self.reverts,) if self.reverts is not None else self.retracts

    @property
    def is_deletion(self) -> bool:
        """Whether its item was to be deleted, whatever later words leave of it.

        Not where the deletion of a skill became a change of a list, which has other names.
        """
        asked = self.request is not None and self.request.operation is Operation.DELETE
        return asked and self.kind is not Kind.AGENT_SKILLS

    @property
    def listed_by(self) -> tuple[Lister, ...]:
        """The other agents that listed the skill whose deletion was asked for."""
        return self.request.listed_by if self.request else ()

    @property
    def is_for_tenant(self) -> bool:
        """Whether it leaves something for the whole tenant."""
        return self.after is not None and self.after.reach.scope is Scope.TENANT

    @property
    def deletes_for_all(self) -> bool:
        """Whether it deletes a skill that other agents list."""
        return self.kind is Kind.SKILL and self.after is None and bool(self.listed_by)


class DuplicateWaiter(Model):
    """Feedback that repeated something known; `hash` is of the state it asked for.

    `change_id` names the held change with the same content, if it repeated one.
    """

    feedback_id: str
    kind: Kind
    target_id: str
    hash: str
    change_id: str | None = None
    at: datetime


class LaterWord(Model):
    """Something that was said later about a target.

    It changed the target (`change_id`), or repeated what it says: all of it, or the parts named in
    `units`; of what was repeated as a whole `says` is the hash. The one unit `("gone",)` is of a
    deletion that was overtaken, or of a whole that was there already. Of another item it is the
    change that deleted or replaced `gone`; where it `is_undoing` it only took back what was said.
    """

    change_id: str | None
    feedback_id: str | None
    target_id: str
    said_at: datetime
    heard_at: datetime
    says: str | None = None
    units: tuple[tuple[str, ...], ...] | None = None
    gone: Snapshot | None = None
    is_undoing: bool = False


class Receipt(Model):
    """The result of a submitted change. `hits` are the items a refusal refers to.

    `broken` are the cases that it would break. `said_at` is when its feedback was said, as long as
    the change counts at that time.
    """

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
    said_at: datetime | None = None
    broken: tuple[str, ...] = Field(default=(), exclude_if=absent)


class HistoryStatus(StrEnum):
    """The outcome of the attempt that a history record documents."""

    APPLIED = "applied"
    FAILED = "failed"
    REVERTED = "reverted"


class HistoryRecord(Model):
    """The audit row of an applied or attempted change (contracts, section 8).

    `said_at` is when that was said which it carries out, or when a person asked for it.
    """

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
    previous_reach: Reach | None = None
    new_reach: Reach | None = None
    feedback_content: str
    feedback_id: str | None
    change_id: str
    attempt: int
    status: HistoryStatus
    error: Text | None = None
    said_at: datetime | None = None
    created_at: datetime | None = None

    @classmethod
    def of(
        cls,
        change: Change,
        record_id: str,
        status: HistoryStatus,
        *,
        new_content: str | None = None,
        error: str | None = None,
    ) -> HistoryRecord:
        """Return the row of a change, with its whole before and after.

        `new_content` stands in place of the content after it, if given.
        """
        before, after = change.before, change.after
        content = after.content if after else None
        return cls(
            id=record_id,
            knowledge_type=change.kind,
            knowledge_id=change.target_id,
            knowledge_name=change.target_name,
            agent_id=change.agent_id,
            tenant_id=change.tenant_id,
            operation=change.operation,
            previous_content=before.content if before else None,
            new_content=content if new_content is None else new_content,
            previous_files=before.files if before else None,
            new_files=after.files if after else None,
            previous_reach=_reach(before),
            new_reach=_reach(after),
            feedback_content=change.feedback_content,
            feedback_id=change.feedback_id,
            change_id=change.id,
            attempt=change.attempt,
            status=status,
            error=error,
            said_at=change.said_at,
        )


def _reach(state: Snapshot | None) -> Reach | None:
    """Return how long and for whom a state holds where that is said, None where it is not."""
    return state.reach if state is not None and state.reach != UNBOUNDED else None
