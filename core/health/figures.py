"""Figures that are read when somebody looks: of the queue, of dependencies, of this process."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from core.models import FeedbackStatus, HoldKind, Undecided, Waiting


@dataclass(frozen=True, kw_only=True)
class Figures:
    """What is known now; None is what could not be read in time."""

    running: int = 0
    up: Mapping[str, bool] = field(default_factory=dict)
    holds: Collection[HoldKind] | None = None
    waiting: Waiting | None = None
    at_budget: int | None = None
    ended: Mapping[FeedbackStatus, int] | None = None
    undecided: Undecided | None = None


class Gauges(Collector):
    """The figures as metrics: what is not known has no sample, so that nobody takes it for 0."""

    def __init__(self, figures: Figures) -> None:
        self._figures = figures

    def collect(self) -> Iterator[Metric]:
        """Give one family a metric."""
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
            {(kind,): int(kind in self._figures.holds) for kind in HoldKind}
            if self._figures.holds is not None
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
