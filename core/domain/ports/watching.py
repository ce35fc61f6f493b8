"""What people watch: events as they happen, in an order in which none is missed, and figures."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from core.domain.models import EventFilter, FeedPage
from core.domain.models.views import EndedSeries, OutcomeCount, Standing, WaitingReviews, WorkerSeen


class Bell(Protocol):
    """Rings when something may have been written."""

    async def wait(self, seconds: float) -> None:
        """Wait until it has rung since the last time, or for so many seconds."""


class Feed(Protocol):
    """The events of all processes, in one lasting order."""

    async def place(self) -> str:
        """Give the place from which all that is written from now on is read."""

    async def after(self, place: str | None, wanted: EventFilter, limit: int) -> FeedPage:
        """Give at most `limit` events that come after a place; None: from the oldest that is kept.

        What is pruned meanwhile is passed over. Raises InvalidInput on what is no place.
        """

    def listening(self, wanted: EventFilter) -> AbstractAsyncContextManager[Bell]:
        """Give a bell for the events that are wanted, while the block lasts."""


class Figures(Protocol):
    """How it goes, read when somebody looks. A tenant of None stands for all of them."""

    async def standing(self, tenant_id: str | None) -> Standing:
        """Give where feedback stands now, and what ended just now."""

    async def ended(self, tenant_id: str | None, step_seconds: int, steps: int) -> EndedSeries:
        """Give what ended in the last steps, also in those in which nothing did."""

    async def outcomes(self, tenant_id: str | None) -> Sequence[OutcomeCount]:
        """Give what came of the changes of the last 30 days, by kind, operation and status."""

    async def reviews(self, tenant_id: str | None) -> WaitingReviews:
        """Give how many changes wait for a person."""

    async def workers(self, tenant_id: str | None) -> Sequence[WorkerSeen]:
        """Give all workers, the oldest first, and what of the tenant each works on."""
