"""What leaves the program: the outbox, the targets behind it, and who is asked before a change."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple, Protocol

from pydantic import JsonValue

from core.domain.models import Change, HistoryRecord, RunEvent
from core.domain.models.deliveries import (
    Delivered,
    Delivery,
    DeliveryFilter,
    HookAnswer,
    HookSaid,
    Route,
    Sent,
    Settled,
    SkillListState,
    TargetState,
)

BEFORE = "before.change_applied"  # the one event that is asked about at once, and may be refused

# Returns where an event goes out to; deliveries are written in the transaction of the event.
Routes = Callable[[RunEvent], Sequence[Route]]


class Target(Protocol):
    """Something that deliveries go to. One delivery may arrive more than once, under one id."""

    @property
    def digest(self) -> str:
        """Its configuration: a target that was switched off is tried again once it differs."""

    @property
    def lease(self) -> float:
        """Seconds after which an attempt that has not ended belongs to a dead worker."""

    async def deliver(self, delivery: Delivery) -> Sent:
        """Deliver once, and return how that ended; it does not raise what can be foreseen."""


class Outbox(Protocol):
    """Deliveries that wait. Their targets are taken turns with by all workers."""

    async def claim(self, targets: Mapping[str, Target], now: datetime) -> Sequence[Delivery]:
        """Begin an attempt of what is due: of each target at most eight, of each subject one.

        Nothing for a target that rests or is switched off; one, if it failed often in a row.
        """

    async def settle(self, delivery: Delivery, ended: Settled, digest: str) -> int:
        """Record how an attempt ended; return how often in a row its target has failed by now."""

    async def record(self, answered: Sequence[tuple[Delivery, Sent, float]]) -> None:
        """Record what was asked and answered at once, each with the seconds that it took."""

    async def tell_ends(self, seconds: float) -> int:
        """Write the events of pieces that ended longer ago without one, as where a worker died.

        Returns how many; 0 at once if another process is at it.
        """

    async def answered(self, target: str, once_key: str) -> HookAnswer | None:
        """Return what a target has answered before under this key."""


class DeliveryLog(Protocol):
    """Deliveries for people: what waits, what failed, and sending it again."""

    async def page(
        self, wanted: DeliveryFilter, *, limit: int, cursor: str | None
    ) -> tuple[Sequence[Delivery], str | None]:
        """Return deliveries, newest first, and the cursor of the next page."""

    async def get(self, delivery_id: str) -> Delivered:
        """Return a delivery with its attempts. Raises NotFound."""

    async def replay(self, delivery_id: str) -> Delivery:
        """Let a delivery go out once more, at once, with all its attempts. Raises NotFound."""

    async def said(
        self, feedback_id: str, waited_for: Sequence[str]
    ) -> tuple[Sequence[HookSaid], bool]:
        """Return what hooks said of a piece, and whether one that is waited for has yet to."""

    async def targets(self) -> Sequence[TargetState]:
        """Return the targets that failed lately or are switched off."""

    async def enable(self, target: str) -> bool:
        """Try a target again that was switched off or rests; return whether it was."""


class Judged(NamedTuple):
    """What was said before a change: why it is denied or held, and notes for its reviewers."""

    denied: str = ""
    held: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


class BeforeApplied(Protocol):
    """Is asked before a change is applied; it writes nothing to knowledge."""

    async def __call__(self, change: Change) -> Judged:
        """Return what there is to say about a prepared change, outside of any transaction."""


class WriteBackRecords(Protocol):
    """What is written back to the platform, as it is on record here."""

    async def attempts(self, change_id: str) -> Sequence[HistoryRecord]:
        """Return the history records of a change, oldest first."""

    async def later(self, change: Change) -> Sequence[str]:
        """Return the ids of the changes of the same target that were recorded after it."""

    async def listers(self, tenant_id: str, skill: str) -> Sequence[str]:
        """Return the agents that list a skill, here or there, or did when it was deleted."""

    async def tenant_skills(self, tenant_id: str) -> frozenset[str]:
        """Return the tenant's list of skills."""

    async def skill_list(self, tenant_id: str, agent_id: str) -> SkillListState | None:
        """Return a list as it was last compared; None if it never was."""

    async def keep(self, state: SkillListState) -> SkillListState:
        """Store a list as it was compared, and return it with its new revision.

        Raises Stale if another process has compared it since.
        """


class Unsent(Protocol):
    """Changes of before, for sending them after all."""

    async def page(
        self, target: str, *, tenant_id: str | None, since: datetime | None, after: int, limit: int
    ) -> tuple[Sequence[RunEvent], int | None]:
        """Return events of changes on record that never went out to a target, oldest first.

        Also the position to go on `after`; None at the end.
        """

    async def send(self, events: Sequence[RunEvent], routes: Routes) -> int:
        """Write the deliveries of events, and return how many; those that were written stay one."""


PlatformRow = Mapping[str, JsonValue]


class PlatformRows(Protocol):
    """Rows of the platform's tables, by our names of tables and columns.

    A column that is not there is left out of rows with one warning. Raises NoSuchTable if the table
    or one of its key columns is not there, InvalidInput if the platform refuses a value, and
    DependencyDown, ConfigurationError.
    """

    async def read(
        self, table: str, where: PlatformRow, columns: Sequence[str]
    ) -> Sequence[PlatformRow]:
        """Return the rows with all these values."""

    async def change(self, table: str, where: PlatformRow, values: PlatformRow) -> int:
        """Change the rows with all these values; return how many there were."""

    async def add(self, table: str, row: PlatformRow) -> None:
        """Add a row, unless there is one with its primary key."""

    async def remove(self, table: str, where: PlatformRow) -> None:
        """Delete the rows with all these values."""
