"""What changes: the gate, the committers behind it, and the log of changes."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from typing import Protocol

from core.domain.models import (
    Change,
    ChangeRequest,
    ChangeStatus,
    DuplicateWaiter,
    Fence,
    FileRef,
    HistoryRecord,
    Kind,
    Prepared,
    Receipt,
    RunEvent,
    Snapshot,
    SubmitContext,
)
from core.domain.models.review import OpenedChange


class Gate(Protocol):
    """The one way in for changes."""

    async def submit(self, request: ChangeRequest, context: SubmitContext) -> Receipt:
        """Prepare, decide, apply and record a change; expected failures are receipts.

        The same key gives the same receipt. Raises DependencyDown, LeaseLost, KeyReused.
        """

    async def resume(self, fence: Fence) -> int:
        """Finish what earlier generations of a candidate left open; gives how many changes."""


class Committer(Protocol):
    """Carries out the changes of one kind."""

    async def prepare(self, request: ChangeRequest, context: SubmitContext) -> Prepared:
        """Make before and after of a request. Writes nothing durable.

        Raises Refused (told to the model), InvalidInput, NotFound, DependencyDown, and
        PrepareFailed where the content exists but could not be made ready.
        """

    async def vet(self, prepared: Prepared, context: SubmitContext) -> Sequence[str]:
        """Check a state that is to be restored against what is there now; give warnings.

        Raises Refused.
        """

    async def current(self, tenant_id: str, target_id: str) -> Snapshot | None:
        """Give the target's state as the store holds it now."""

    async def apply(self, change: Change) -> None:
        """Carry out the effects outside our database; idempotent. Raises Stale."""

    async def record(self, change: Change, unit: UnitOfWork) -> None:
        """Carry out the effects inside our database. Raises Stale."""


class ChangeLog(Protocol):
    """Changes as they are stored, and the transactions that settle them."""

    async def find(self, key: str) -> Change | None:
        """Give the newest attempt under an idempotency key, or None."""

    async def get(self, change_id: str) -> Change:
        """Give a change. Raises NotFound."""

    async def open(self, change: Change, blobs: Mapping[str, bytes]) -> None:
        """Write the intent (status `applying`) and its blobs, in place of a hold of the same id.

        Raises TargetBusy while another change has the target, or makes a skill that says nearly
        what a new one says; Repeated where one was made since; LeaseLost when fenced off.
        """

    async def keep(
        self,
        change: Change,
        blobs: Mapping[str, bytes],
        event: RunEvent,
        history: HistoryRecord | None = None,
    ) -> None:
        """Write a change that is not opened, in place of its hold, and its event, all at once.

        It is held, or failed before it was opened; then with its history. Raises LeaseLost.
        """

    async def blobs(self, refs: Sequence[FileRef]) -> Mapping[str, bytes]:
        """Give the bytes behind references, by SHA-256. Raises NotFound."""

    def unit_of_work(self, change: Change) -> AbstractAsyncContextManager[UnitOfWork]:
        """Open the transaction that ends an intent; it rolls back on any error.

        Raises LeaseLost when the change's fence is lost, Stale where the intent has ended.
        """


class TargetLocks(Protocol):
    """Who has a target: one change at a time, from before it is prepared until it ends."""

    async def acquire(self, change: Change) -> None:
        """Hold the target of a change that is about to be prepared (status `prepared`).

        Holds of dead runs are let go. Raises TargetBusy, LeaseLost, Stale (the key is in use).
        """

    async def release(self, change_id: str) -> None:
        """Let go of a hold; nothing where it has become an intent."""

    async def unfinished(self, candidate_id: str) -> Sequence[Change]:
        """Give the open intents of a candidate, oldest first."""

    async def latest(self, change: Change) -> Change | None:
        """Give the newest change of a change's target that is being applied, or was."""

    async def abandoned(self, older_than: float) -> Sequence[Change]:
        """Give intents older than `older_than` seconds whose feedback has ended, oldest first."""

    async def adopt(self, change: Change) -> Change | None:
        """Fence off whoever wrote an abandoned intent, and give it with the new epoch.

        None where its feedback is being worked on again.
        """


class Reviews(Protocol):
    """Changes that wait for a person. Whoever comes second finds that it was decided: Decided."""

    async def approve(self, change: Change, by: str, event: RunEvent) -> Change:
        """Make a held change an intent, and give that, if it still is what was looked at.

        Raises Decided; TargetBusy while another change has the target; Repeated where a skill
        that says nearly the same was made since.
        """

    async def end(
        self, change: Change, status: ChangeStatus, by: str, reason: str, event: RunEvent
    ) -> None:
        """Reject a change that waits, or say that it went stale. Raises Decided."""

    async def replace(
        self, fresh: Change, seen: Change, blobs: Mapping[str, bytes], event: RunEvent
    ) -> None:
        """Put other content in the place of what was `seen`; it waits again. Raises Decided.

        It waits since its `prepared_at`, or since now.
        """

    async def now(self) -> datetime:
        """Give the time by the clock that histories go by: what is prepared since has seen them."""

    async def overdue(self, seconds: float) -> Sequence[Change]:
        """Give what has waited for longer than that, the longest first."""

    async def remind(self, seconds: float) -> Sequence[Change]:
        """Give what has waited for that long since it was last named here, and note it."""


class UnitOfWork(Protocol):
    """One transaction: effects in our own tables, history, status and events."""

    async def write_item(self, change: Change) -> None:
        """Write the item's next version, or close it where `after` is None. Raises Stale."""

    async def update_agent_and_tenant_skills(self, change: Change) -> None:
        """Follow a skill's CREATE, UPDATE or DELETE on the agent's and the tenant's list."""

    async def set_agent_skills(self, change: Change) -> None:
        """Set the agent's list to the lines of `after`. Raises Stale."""

    async def record_knowledge_history(self, history: HistoryRecord) -> None:
        """Add a history record; (change, attempt, status) is unique, repeating it is fine."""

    async def close(self, change_id: str, status: ChangeStatus, error: str | None = None) -> None:
        """Set the end of a change."""

    async def take_back(self, change_ids: Sequence[str]) -> None:
        """End applied changes as reverted; what one of them had taken back is applied again."""

    async def emit(self, event: RunEvent) -> None:
        """Add an event and notify, when the transaction commits."""


class Steps(Protocol):
    """How targets came to be what they are, change by change."""

    async def of_feedback(self, feedback_id: str) -> Sequence[Change]:
        """Give what a piece of feedback taught, or would: applied, held and stale, in order."""

    async def chain(self, kind: Kind, tenant_id: str, target_id: str) -> Sequence[Change]:
        """Give all that was done to a target, what was reverted too, in order."""

    async def take_back(self, change_ids: Sequence[str]) -> None:
        """End applied changes as reverted, where nothing is left of them to undo."""


class DuplicateWaiters(Protocol):
    """Which feedback said what others had said: without those it would have taught it."""

    async def note(self, change: Change) -> None:
        """Note that the change's feedback said what its target holds already."""

    async def join(self, change: Change) -> Change | None:
        """Note that the change's feedback said what a change that waits for a person says.

        Gives that one, None where there is none: of the same agent, from the same state, into
        the very same.
        """

    async def at(self, kind: Kind, tenant_id: str, target_id: str) -> Sequence[DuplicateWaiter]:
        """Give which feedback said again what a target held, oldest first."""

    async def of_feedback(self, feedback_id: str) -> Sequence[DuplicateWaiter]:
        """Give what a piece of feedback said again, oldest first."""

    async def forget(self, feedback_id: str) -> None:
        """Forget what a piece of feedback said again."""


AHEAD = 5


class ReviewQueue(Protocol):
    """Reads for reviewers, each in one look. A tenant of None stands for all of them."""

    async def look(
        self, change_id: str, *, tenant_id: str | None, but: Collection[str]
    ) -> OpenedChange:
        """Give a change with its feedback and its place in the line.

        At most `AHEAD` changes are named as following; those in `but` are left out. Raises
        NotFound.
        """

    async def first(self, *, tenant_id: str | None, but: Collection[str]) -> Sequence[str]:
        """Give the ids of the `AHEAD` that wait longest, those in `but` left out."""
