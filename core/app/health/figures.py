"""Figures read on demand: of the queue, of dependencies, of this process."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from core.domain.models import FeedbackStatus, PauseKind, Undecided, Waiting
from core.domain.models.deliveries import DeliveryStatus
from core.domain.tasks import end_tasks, over_all_tenants

T_co = TypeVar("T_co", covariant=True)
Clock = Callable[[], float]


class Reading(Generic[T_co]):
    """A shared, cached reading. `read` returns None on failure and never raises.

    A result is cached for `keep` seconds, or `rest` times as long as it took if that is longer:
    what is slow to read is read rarely. Callers wait at most `patience` seconds. `clock` returns
    monotonic seconds.
    """

    def __init__(
        self,
        read: Callable[[], Awaitable[T_co]],
        *,
        keep: float,
        patience: float,
        clock: Clock,
        rest: float = 0,
    ) -> None:
        self._read = read
        self._keep = keep
        self._patience = patience
        self._rest = rest
        self._clock = clock
        self._due = float("-inf")
        self._task: asyncio.Task[T_co] | None = None

    async def get(self) -> T_co | None:
        """Return the newest result; None if it does not arrive in time."""
        if self._task is None or (self._task.done() and self._clock() >= self._due):
            self._task = asyncio.create_task(self._made())
        # Left running: of a call that hangs there is never more than one.
        await asyncio.wait({self._task}, timeout=self._patience)
        if not self._task.done() or self._task.cancelled():
            return None
        return self._task.result()

    async def close(self) -> None:
        """Cancel a reading in progress."""
        if self._task is not None:
            await end_tasks([self._task])

    async def _made(self) -> T_co:
        began = self._clock()
        with over_all_tenants():  # whoever asks: what is read is kept for all
            answer = await self._read()
        now = self._clock()
        rest = 0.0 if answer is None else self._rest * (now - began)
        self._due = now + max(self._keep, rest)
        return answer


@dataclass(frozen=True, kw_only=True)
class Figures:
    """The current figures; None for what could not be read in time."""

    running: int = 0
    up: Mapping[str, bool] = field(default_factory=dict)
    pauses: Collection[PauseKind] | None = None
    waiting: Waiting | None = None
    at_budget: int | None = None
    ended: Mapping[FeedbackStatus, int] | None = None
    undecided: Undecided | None = None
    going_out: Mapping[tuple[str, DeliveryStatus], int] | None = None


class Gauges(Collector):
    """The figures as metrics: an unknown one has no sample, lest it be taken for 0."""

    def __init__(self, figures: Figures) -> None:
        self._figures = figures

    def collect(self) -> Iterator[Metric]:
        """Yield one family per metric."""
        yield _gauge(
            "running", "Feedback that this process works on.", (), {(): self._figures.running}
        )
        yield _gauge(
            "dependency_up",
            "1 where it answered when it was last asked.",
            ("dependency",),
            {(name,): int(up) for name, up in self._figures.up.items()},
        )
        yield _gauge(
            "held",
            "1 while no worker begins new work, by why.",
            ("kind",),
            {(kind,): int(kind in self._figures.pauses) for kind in PauseKind}
            if self._figures.pauses is not None
            else {},
        )
        yield _gauge(
            "feedback", "Feedback in the whole database, by status.", ("status",), self._counts()
        )
        at_budget = self._figures.at_budget
        yield _gauge(
            "tenants_at_budget",
            "Tenants with unfinished feedback whose daily budget is used up.",
            (),
            {} if at_budget is None else {(): at_budget},
        )
        waiting = self._figures.waiting
        yield _gauge(
            "feedback_oldest_seconds",
            "Age of the oldest queued feedback in the whole database; 0 where none is.",
            (),
            {} if waiting is None else {(): waiting.oldest_seconds},
        )

        yield from _reviews(self._figures.undecided)
        going_out = self._figures.going_out or {}
        targets = {target for target, _ in going_out}
        yield _gauge(
            "deliveries",
            "Deliveries that are kept in the whole database, by target and status.",
            ("target", "status"),
            {(to, of): going_out.get((to, of), 0) for to in targets for of in DeliveryStatus},
        )

    def _counts(self) -> Mapping[tuple[str, ...], float]:
        waiting, ended = self._figures.waiting, self._figures.ended
        counts: dict[tuple[str, ...], float] = {}
        if waiting is not None:
            counts[FeedbackStatus.QUEUED,] = waiting.queued
            counts[FeedbackStatus.PROCESSING,] = waiting.processing
        if ended is not None:
            counts |= {(s,): ended.get(s, 0) for s in FeedbackStatus if s.is_end}
        return counts


def _reviews(undecided: Undecided | None) -> Iterator[Metric]:
    by_status: dict[tuple[str, ...], float] = {}
    oldest: dict[tuple[str, ...], float] = {}
    if undecided is not None:
        by_status = {("held",): undecided.held, ("stale",): undecided.stale}
        oldest = {(): undecided.oldest_seconds}
    text = "Changes in the whole database that wait for a person, by status."
    yield _gauge("changes_waiting", text, ("status",), by_status)
    text = "How long the oldest of them has waited; 0 where none does."
    yield _gauge("changes_waiting_oldest_seconds", text, (), oldest)


def _gauge(
    name: str, text: str, labels: tuple[str, ...], samples: Mapping[tuple[str, ...], float]
) -> GaugeMetricFamily:
    family = GaugeMetricFamily(f"skill_worker_{name}", text, labels=labels)
    for values, figure in samples.items():
        family.add_metric(values, figure)
    return family
