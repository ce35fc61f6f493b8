"""What changes: the gate, the committers behind it, and the log of changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from core.models import (
    Change,
    ChangeRequest,
    ChangeStatus,
    FileRef,
    HistoryRecord,
    Prepared,
    Receipt,
    RunEvent,
    Snapshot,
    SubmitContext,
)


class Gate(Protocol):
    """The one way in for changes."""

    async def submit(self, request: ChangeRequest, context: SubmitContext) -> Receipt:
        """Prepare, decide, apply and record a change; expected failures are receipts.

        The same key gives the same receipt. Raises DependencyDown, LeaseLost, KeyReused.
        """


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

    async def close(self, change_id: str, status: ChangeStatus, error: str | None = None) -> None:
        """Set the end of a change."""

    async def emit(self, event: RunEvent) -> None:
        """Add an event and notify, when the transaction commits."""
