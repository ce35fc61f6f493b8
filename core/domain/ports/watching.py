"""What people watch: events in an order in which none is missed, and figures."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from core.domain.models import EventFilter, FeedPage
from core.domain.models.views import EndedSeries, OutcomeCount, Standing, WaitingReviews, WorkerSeen


class Bell(Protocol):
    """Rings when something may have been written."""

    async def wait(self, seconds: float) -> None:
        """Wait until it has rung since the last time, at most `seconds`."""


class Feed(Protocol):
    """The events of all processes, in one permanent order."""

    async def cursor(self) -> str:
        """Return the cursor from which everything written from now on is read."""

    async def after(self, cursor: str | None, wanted: EventFilter, limit: int) -> FeedPage:
        """Return at most `limit` events after a cursor; None: from the oldest stored.

        Events pruned meanwhile are skipped. Raises InvalidInput on a malformed cursor.
        """

    def listening(self, wanted: EventFilter) -> AbstractAsyncContextManager[Bell]:
        """Open a bell for the wanted events, while the block lasts."""


class Figures(Protocol):
    """Current figures, computed on demand. A tenant of None stands for all."""

    async def standing(self, tenant_id: str | None) -> Standing:
        """Return the state of the queue, and what ended just now."""

    async def ended(self, tenant_id: str | None, step_seconds: int, steps: int) -> EndedSeries:
        """Return what ended in each of the last steps, including empty ones."""

    async def outcomes(self, tenant_id: str | None) -> Sequence[OutcomeCount]:
        """Return the results of changes of the last 30 days, by kind, operation and status."""

    async def reviews(self, tenant_id: str | None) -> WaitingReviews:
        """Return how many changes wait for a person."""

    async def workers(self, tenant_id: str | None) -> Sequence[WorkerSeen]:
        """Return all workers, oldest first, each with its work of the tenant."""
