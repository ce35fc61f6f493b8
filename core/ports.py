"""The borders of the program as Protocols of at most six async methods each.

Each real adapter and the in-memory fake in `core.testing` pass the same contract suite.
All raise only errors of `core.errors`; ids are opaque text; times are aware datetimes in UTC.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from pydantic import JsonValue

from core.models import (
    Agent,
    AgentFeedback,
    AuthorRequest,
    Bundle,
    Candidate,
    Change,
    ChangeRequest,
    ChangeStatus,
    Feedback,
    Fence,
    FileRef,
    HistoryRecord,
    Hit,
    Kind,
    KnowledgeItem,
    NewFeedback,
    Outcome,
    Prepared,
    Receipt,
    RunEvent,
    SkillArtifact,
    SkillEdits,
    SkillFile,
    SkillSummary,
    Snapshot,
    SubmitContext,
    Usage,
    Verdict,
)

NewId = Callable[[], str]


class FeedbackSource(Protocol):
    """Where feedback is fetched from, and told what became of it."""

    @property
    def name(self) -> str:
        """The source's name, part of each piece's identity."""

    async def fetch(self, limit: int) -> Sequence[NewFeedback]:
        """Give at most `limit` pieces that are not yet acknowledged; each has an `id`."""

    async def acknowledge(self, source_id: str, outcome: Outcome) -> None:
        """Tell the source what a piece came to; repeating it changes nothing."""


class Inbox(Protocol):
    """Feedback as we hold it, and the one job that each piece has."""

    async def add(self, source: str, pieces: Sequence[NewFeedback]) -> Sequence[tuple[str, bool]]:
        """Store pieces and defer a job for each new one, in one transaction.

        Gives (feedback id, True where it is new) for each. Raises InvalidInput where a known
        (source, id) comes again with other content.
        """

    async def get(self, feedback_id: str) -> Feedback:
        """Give one piece. Raises NotFound."""

    async def claim(self, feedback_id: str) -> Feedback | None:
        """Start an attempt: `processing`, attempts + 1. None where it has ended."""

    async def give_back(self, feedback_id: str, error: str, delay: float) -> None:
        """Queue it again in `delay` seconds, in one transaction with its new job."""

    async def finish(self, feedback_id: str, outcome: Outcome) -> None:
        """Record the end of a piece and the sum of its candidates' usage."""

    async def revive(self, feedback_id: str) -> Feedback:
        """Queue an ended piece again under the next generation. Raises NotFound, Refused."""


class Runs(Protocol):
    """The candidates of a piece of feedback and how each ended."""

    async def candidates(self, feedback_id: str) -> Sequence[Candidate]:
        """Give the candidates in order; empty before the matcher has answered."""

    async def save_candidates(
        self, feedback: Feedback, parts: Sequence[AgentFeedback]
    ) -> Sequence[Candidate]:
        """Store what the matcher answered; what is stored already stays."""

    async def start(self, candidate: Candidate, generation: int) -> Candidate:
        """Raise the epoch (and take over `generation`): whoever held it before is fenced off."""

    async def finish(self, candidate: Candidate, verdict: Verdict) -> None:
        """Record the verdict. Raises LeaseLost where the epoch was raised since."""

    async def check(self, fence: Fence) -> None:
        """Raise LeaseLost where the epoch was raised since."""

    async def receipts(self, candidate_id: str) -> Sequence[Receipt]:
        """Give the receipts of changes this candidate has already made, oldest first."""


class Replies(Protocol):
    """Model replies outside the ReAct thread, stored before they are acted on."""

    async def get(self, key: str, ordinal: int) -> tuple[JsonValue, Usage] | None:
        """Give a stored reply, or None."""

    async def put(self, key: str, ordinal: int, reply: JsonValue, usage: Usage) -> None:
        """Store a reply; the first one stored stays."""

    async def usage(self, key_prefix: str) -> Usage:
        """Sum the usage of the replies whose key begins with `key_prefix`."""


class Agents(Protocol):
    """The agents that learn, and their lists of skills."""

    async def get(self, agent_id: str) -> Agent:
        """Give one agent. Raises NotFound."""

    async def list(self, tenant_id: str | None = None) -> Sequence[Agent]:
        """Give all agents (of a tenant), by id."""

    async def save(self, agent: Agent) -> bool:
        """Create or change an agent; True where it is new. Raises InvalidInput on another tenant.

        The list of skills is set only where the agent is new.
        """


class Knowledge(Protocol):
    """Reads of what is known. Every write goes through the change gate."""

    async def get(self, kind: Kind, tenant_id: str, item_id: str) -> KnowledgeItem:
        """Give an item as it stands. Raises NotFound, also where it was deleted."""

    async def find_rule(self, tenant_id: str, agent_id: str, name: str) -> KnowledgeItem | None:
        """Give the agent's decision table of that name (NFC, case folded), or None."""

    async def find_same(
        self, kind: Kind, tenant_id: str, agent_id: str, content: str
    ) -> KnowledgeItem | None:
        """Give the agent's item that says exactly this (NFC, case and white space folded)."""

    async def versions(self, kind: Kind, tenant_id: str, item_id: str) -> Sequence[KnowledgeItem]:
        """Give all versions, oldest first, with the span each was valid. Raises NotFound."""

    async def list(
        self, *, tenant_id: str | None, agent_id: str | None, kind: Kind | None
    ) -> Sequence[KnowledgeItem]:
        """Give all current items, newest first; without filters those of all tenants."""


class Search(Protocol):
    """Ranked search over everything a tenant knows."""

    async def search(
        self, query: str, *, tenant_id: str, agent_id: str | None, kind: Kind | None, limit: int
    ) -> Sequence[Hit]:
        """Give the items most similar to `query`, best first."""

    async def refresh(self, tenant_id: str) -> None:
        """Bring the index up to what the skill store holds (skills written by others)."""


class SkillStore(Protocol):
    """The skill HTTP API, as far as the worker writes through it (contracts, section 5)."""

    async def read(self, name: str, tenant_id: str) -> Bundle | None:
        """Give the whole folder, or None where there is no such skill."""

    async def upload(self, bundle: Bundle, tenant_id: str) -> None:
        """Create a skill. Raises Stale where it exists."""

    async def put_file(
        self, name: str, path: str, file: SkillFile, tenant_id: str, *, base_hash: str
    ) -> str:
        """Write one file of a bundle whose hash is `base_hash`; gives the hash then. Stale."""

    async def delete_file(self, name: str, path: str, tenant_id: str, *, base_hash: str) -> str:
        """Delete one file of a bundle whose hash is `base_hash`; gives the hash then. Stale."""

    async def delete(self, name: str, tenant_id: str, *, base_hash: str) -> None:
        """Delete a skill; absent already is fine. Stale."""

    async def list(self, tenant_id: str) -> Sequence[SkillSummary]:
        """Give the tenant's skills, by name."""


class SkillAuthor(Protocol):
    """The model that writes or edits skills."""

    async def write(
        self, request: AuthorRequest, *, key: str, ordinal: int, problems: Sequence[str]
    ) -> SkillArtifact | SkillEdits:
        """Write (CREATE) or edit (UPDATE); `problems` are those of the answer before.

        The reply is stored under (key, ordinal). Raises ArtifactInvalid where it does not parse.
        """


class ChangeLog(Protocol):
    """Changes as they are stored, and the transactions that settle them."""

    async def find(self, key: str) -> Change | None:
        """Give the newest attempt under an idempotency key, or None."""

    async def get(self, change_id: str) -> Change:
        """Give a change. Raises NotFound."""

    async def open(self, change: Change, blobs: Mapping[str, bytes]) -> None:
        """Write the intent (status `applying`) and its blobs.

        Raises TargetBusy while another intent holds the target, LeaseLost when fenced off.
        """

    async def abandoned(self, older_than: float) -> Sequence[Change]:
        """Give intents older than `older_than` seconds that no unfinished feedback will resume."""

    async def blobs(self, refs: Sequence[FileRef]) -> Mapping[str, bytes]:
        """Give the bytes behind references, by SHA-256. Raises NotFound."""

    def settle(self, change: Change) -> AbstractAsyncContextManager[Settlement]:
        """Open the transaction that ends an intent; it rolls back on any error.

        Raises LeaseLost when the change's fence is lost.
        """


class Settlement(Protocol):
    """One transaction: effects in our own tables, history, status and events."""

    async def write_item(self, change: Change) -> None:
        """Write the item's next version, or close it where `after` is None. Raises Stale."""

    async def set_skill_lists(self, change: Change) -> None:
        """Follow a skill's CREATE, UPDATE or DELETE on the agent's and the tenant's list."""

    async def set_agent_skills(self, change: Change) -> None:
        """Set the agent's list to the lines of `after`. Raises Stale."""

    async def record(self, history: HistoryRecord) -> None:
        """Add a history record; (change, attempt, status) is unique, repeating it is fine."""

    async def close(
        self, change_id: str, status: ChangeStatus, error: str | None = None
    ) -> None:
        """Set the end of a change."""

    async def emit(self, event: RunEvent) -> None:
        """Add an event and notify, when the transaction commits."""


class Committer(Protocol):
    """Carries out the changes of one kind."""

    async def prepare(self, request: ChangeRequest, context: SubmitContext) -> Prepared:
        """Make before and after of a request. Writes nothing durable.

        Raises Refused (told to the model), InvalidInput, NotFound, DependencyDown.
        """

    async def current(self, tenant_id: str, target_id: str) -> Snapshot | None:
        """Give the target's state as the store holds it now."""

    async def apply(self, change: Change) -> None:
        """Carry out the effects outside our database; idempotent. Raises Stale."""

    async def record(self, change: Change, settlement: Settlement) -> None:
        """Carry out the effects inside our database. Raises Stale."""


class Gate(Protocol):
    """The one way in for changes."""

    async def submit(self, request: ChangeRequest, context: SubmitContext) -> Receipt:
        """Prepare, decide, apply and record a change; expected failures are receipts.

        The same key gives the same receipt. Raises DependencyDown, LeaseLost, KeyReused.
        """


class Journal(Protocol):
    """What happens in a run, for logs and for people watching."""

    async def emit(self, event: RunEvent) -> None:
        """Write one event and notify."""


class Reader(Protocol):
    """Reads for entry points: lists and audit, straight from the tables."""

    async def feedback(
        self, *, status: str | None, tenant_id: str | None, limit: int, cursor: str | None
    ) -> tuple[Sequence[Feedback], str | None]:
        """Give feedback, newest first, and the cursor of the next page."""

    async def changes(
        self, *, status: str | None, limit: int, cursor: str | None
    ) -> tuple[Sequence[Change], str | None]:
        """Give changes, newest first, and the cursor of the next page."""

    async def history(
        self, *, feedback_id: str | None, limit: int, cursor: str | None
    ) -> tuple[Sequence[HistoryRecord], str | None]:
        """Give history records, newest first, and the cursor of the next page."""

    async def history_record(self, record_id: str) -> HistoryRecord:
        """Give one history record. Raises NotFound."""

    async def events(self, feedback_id: str) -> Sequence[RunEvent]:
        """Give the events of one piece of feedback, oldest first."""

    async def counts(self) -> Mapping[str, int]:
        """Give the number of pieces of feedback by status."""


Sleep = Callable[[float], Awaitable[None]]
