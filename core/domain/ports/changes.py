"""Changes: the gate, the committers behind it, and the stored log."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from typing import NamedTuple, Protocol

from core.domain.errors import SkillWorkerError
from core.domain.models import (
    Allowed,
    Change,
    ChangeRequest,
    ChangeStatus,
    DuplicateWaiter,
    Facts,
    Fence,
    FileRef,
    Finding,
    HistoryRecord,
    Kind,
    LaterWord,
    Prepared,
    Receipt,
    RunEvent,
    Snapshot,
    SubmitContext,
)
from core.domain.models.cases import CaseResult
from core.domain.models.review import OpenedChange


class Gate(Protocol):
    """The only way to change knowledge."""

    async def submit(self, request: ChangeRequest, context: SubmitContext) -> Receipt:
        """Prepare, decide, apply and record a change; expected failures are receipts.

        The same key gives the same receipt. Raises DependencyDown, LeaseLost, KeyReused.
        """

    async def submit_all(
        self, asked: Sequence[tuple[ChangeRequest, SubmitContext]]
    ) -> Sequence[Receipt | SkillWorkerError]:
        """Submit changes in order, writing what is new together, some in a transaction.

        Each has its own receipt and history, or the error that `submit` would raise for it alone.
        Raises DependencyDown.
        """

    async def masked(self, request: ChangeRequest) -> ChangeRequest:
        """Return a request as it is stored, without secrets; to compare what comes after it."""

    async def resume(self, fence: Fence) -> int:
        """Finish what earlier generations of a candidate left open; returns how many changes."""


class Committer(Protocol):
    """Carries out the changes of one kind."""

    async def prepare(self, request: ChangeRequest, context: SubmitContext) -> Prepared:
        """Compute before and after of a request. Writes nothing durable.

        Raises Refused (reported to the model), InvalidInput, NotFound, DependencyDown, and
        PrepareFailed if the content exists but could not be made ready.
        """

    async def vet(self, prepared: Prepared, context: SubmitContext) -> Prepared:
        """Check a state that is to be restored against the present one; add what is found.

        Raises Refused.
        """

    async def current(self, tenant_id: str, target_id: str) -> Snapshot | None:
        """Return the target's present state in its store."""

    async def apply(self, change: Change) -> None:
        """Perform the effects outside our database; idempotent. Raises Stale."""

    async def record(self, change: Change, unit: UnitOfWork) -> None:
        """Perform the effects inside our database. Raises Stale."""


class Concluded(NamedTuple):
    """A change that is written as applied, with its history row and its event."""

    change: Change
    history: HistoryRecord
    event: RunEvent


class ChangeLog(Protocol):
    """Stored changes, and the transactions that conclude them."""

    async def find(self, key: str) -> Change | None:
        """Return the newest attempt under an idempotency key, or None."""

    async def find_all(self, keys: Sequence[str]) -> Mapping[str, Change]:
        """Return the newest attempt under each of these keys that was used."""

    async def get(self, change_id: str) -> Change:
        """Return a change. Raises NotFound."""

    async def conclude(self, made: Sequence[Concluded]) -> None:
        """Write new memories of agents, all or none, with their changes, histories and events.

        Raises Stale if a key, an id or a text was taken meanwhile, TargetBusy.
        """

    async def open(self, change: Change, blobs: Mapping[str, bytes]) -> None:
        """Write the intent (status `applying`) and its blobs, in place of its target lock.

        Raises TargetBusy while another change has the target, or creates a skill that says nearly
        the same as a new one; Repeated if one was created since; Unforeseen if it deletes a skill
        that an agent lists which was not named; LeaseLost when fenced off.
        """

    async def store(
        self,
        change: Change,
        blobs: Mapping[str, bytes],
        event: RunEvent,
        history: HistoryRecord | None = None,
    ) -> None:
        """Store a change that is not opened, replacing its target lock, together with its event.

        It is held, or failed before it was opened, or is on record as applied since others made it;
        the latter two come with their history. Raises LeaseLost, Stale if its key is used.
        """

    async def blobs(self, refs: Sequence[FileRef]) -> Mapping[str, bytes]:
        """Return the bytes behind references, by SHA-256. Raises NotFound."""

    def unit_of_work(self, change: Change) -> AbstractAsyncContextManager[UnitOfWork]:
        """Open the transaction that concludes an intent; it rolls back on any error.

        Raises LeaseLost if the change's fence is lost, Stale if the intent has ended.
        """


class TargetLocks(Protocol):
    """Exclusive access to a target: one change at a time, from before `prepare` to its end."""

    async def acquire(self, change: Change) -> None:
        """Lock the target of a change that is about to be prepared (status `prepared`).

        Locks of dead runs are released. Raises TargetBusy, LeaseLost, Stale (the key is in use).
        """

    async def release(self, change_id: str) -> None:
        """Release a lock; no effect once it has become an intent."""

    async def unfinished(self, candidate_id: str) -> Sequence[Change]:
        """Return the open intents of a candidate, oldest first."""

    async def latest(self, tenant_id: str, kind: Kind, target_id: str) -> Change | None:
        """Return the change of a target that is being applied, else the last that was applied."""

    async def abandoned(self, older_than: float) -> Sequence[Change]:
        """Return intents older than `older_than` seconds whose feedback has ended, oldest first."""

    async def adopt(self, change: Change) -> Change | None:
        """Fence off the writer of an abandoned intent, and return it with the new epoch.

        None if its feedback is being worked on again.
        """


class Reviews(Protocol):
    """Decisions about held changes. The second of two concurrent deciders gets Decided."""

    async def approve(self, change: Change, by: str, event: RunEvent) -> Change:
        """Turn a held change into an intent and return it, if it is still what was reviewed.

        With the cases that it retires, and the reason.
        Raises Decided; TargetBusy while another change has the target; Repeated if a skill that
        says nearly the same was created since; Unforeseen if it deletes a skill that an agent lists
        which was not named.
        """

    async def end(
        self, change: Change, status: ChangeStatus, by: str, reason: str, event: RunEvent
    ) -> None:
        """Reject a held change, or mark it as stale. Raises Decided."""

    async def replace(
        self, fresh: Change, seen: Change, blobs: Mapping[str, bytes], event: RunEvent
    ) -> None:
        """Replace what was `seen` by other content, which is held in turn. Raises Decided.

        It waits from its `prepared_at`, or from now.
        """

    async def now(self) -> datetime:
        """Return the database's time: what is prepared from then on has seen all history before."""

    async def beside(self, change: Change, limit: int) -> Sequence[Change]:
        """Return other changes of the agent and kind that wait, in the order of their saying.

        Of skills those of the tenant, and what waits for its lists of skills.
        """

    async def overdue(self, seconds: float) -> Sequence[Change]:
        """Return what has waited for longer than `seconds`, the longest first."""

    async def remind(self, seconds: float) -> Sequence[Change]:
        """Return what has waited for `seconds` since it was last returned here, and note it."""


class UnitOfWork(Protocol):
    """One transaction: effects in our own tables, history, status and events."""

    async def write_item(self, change: Change) -> None:
        """Write the item's next version, or close it where `after` is None. Raises Stale."""

    async def note_package(self, kind: Kind, package: str) -> None:
        """Note which package brings a kind, for when it is not there."""

    async def update_agent_and_tenant_skills(self, change: Change) -> None:
        """Apply a skill's CREATE, UPDATE or DELETE to the agent's and the tenant's list.

        A deleted skill leaves all lists, and is back on them where the deletion is undone.
        """

    async def set_agent_skills(self, change: Change) -> None:
        """Set the agent's list to the lines of `after`. Raises Stale."""

    async def record_knowledge_history(self, history: HistoryRecord) -> None:
        """Add a history record; (change, attempt, status) is unique. Idempotent."""

    async def close(self, change_id: str, status: ChangeStatus, error: str | None = None) -> None:
        """Set the final status of a change."""

    async def take_back(self, change_ids: Sequence[str]) -> None:
        """Mark applied changes as reverted; changes that one of them had reverted apply again."""

    async def broken_cases(self, change: Change) -> Sequence[CaseResult]:
        """Return the cases of a recorded change, and those in its reach, that do not hold now.

        But for those that it retires, and those that failed before. They are run only if anything
        that its agent finds was recorded since they were.
        """

    async def keep_cases(self, change: Change) -> None:
        """Store the cases of a change; those it retires, or whose item it ends, end with it."""

    async def emit(self, event: RunEvent) -> None:
        """Add an event, and notify when the transaction commits."""


class Steps(Protocol):
    """The changes that made targets what they are."""

    async def of_feedback(self, feedback_id: str) -> Sequence[Change]:
        """Return what a piece of feedback taught or may teach: applied, held, stale; in order."""

    async def chain(self, kind: Kind, tenant_id: str, target_id: str) -> Sequence[Change]:
        """Return all changes of a target in order, including reverted ones."""

    async def later(self, change: Change) -> Sequence[LaterWord]:
        """Return what other pieces said later and is in effect, in the order in which it was said.

        About the change's target, and which other items of the agent it deleted or replaced: at
        most 500 tables, and memories for a CREATE.
        """

    async def take_back(self, change_ids: Sequence[str]) -> None:
        """Mark applied changes as reverted, where nothing is left of them to undo."""


class DuplicateWaiters(Protocol):
    """Feedback that repeated something known: had it come first, it would have taught it."""

    async def note(
        self,
        change: Change,
        units: Sequence[Sequence[str]] | None = None,
        by: str | None = None,
    ) -> None:
        """Note that the change's feedback repeated what its target already says.

        All of it, or the parts named in `units`; `by` is the change that taught it, if known. The
        one unit `("gone",)` is of a deletion that later words overtook: all said before it is gone.
        """

    async def join(
        self, change: Change, units: Sequence[Sequence[str]] | None = None
    ) -> Change | None:
        """Note that the change's feedback repeated a held change; returns that change, or None.

        It says all of the target, or the parts named in `units`.
        The two must be of the same agent, from the same state, to the very same state.
        """

    async def at(self, kind: Kind, tenant_id: str, target_id: str) -> Sequence[DuplicateWaiter]:
        """Return the feedback that repeated something about a target, oldest first."""

    async def of_feedback(self, feedback_id: str) -> Sequence[DuplicateWaiter]:
        """Return what a piece of feedback repeated, oldest first."""

    async def forget(self, feedback_id: str) -> None:
        """Forget what a piece of feedback repeated."""


class ScreenRecords(Protocol):
    """What the screen needs to know of the past, and what people have allowed."""

    async def facts(self, change: Change) -> Facts:
        """Return who said what a change carries out, and which of its findings are allowed."""

    async def allowed(self, tenant_id: str, digests: Sequence[str]) -> Sequence[Allowed]:
        """Return what of these findings a person of the tenant has allowed."""

    async def allow(
        self, change: Change, findings: Sequence[Finding], *, by: str, reason: str, event: RunEvent
    ) -> None:
        """Note that a person allows findings of a change, together with its event. Idempotent."""

    async def waiting(self) -> int:
        """Return how many changes wait because of what was found in them."""


AHEAD = 5


class ReviewQueue(Protocol):
    """Reads for reviewers, one query each. A tenant of None stands for all."""

    async def open(
        self, change_id: str, *, tenant_id: str | None, but: Collection[str]
    ) -> OpenedChange:
        """Return a change with its feedback and its position in the queue.

        At most `AHEAD` changes are named as following; those in `but` are left out. Raises
        NotFound.
        """

    async def oldest(self, *, tenant_id: str | None, but: Collection[str]) -> Sequence[str]:
        """Return the ids of the `AHEAD` that wait longest, those in `but` left out."""
