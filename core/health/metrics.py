"""Metrics of one process, counted from the events it is told of, in Prometheus' text form."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Histogram,
    ProcessCollector,
    generate_latest,
)
from prometheus_client import disable_created_metrics as without_times_of_creation

from core.health.figures import Figures, Gauges
from core.health.reading import Clock
from core.models import FeedbackStatus, RunEvent, Usage

RUN_BUCKETS = (0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800)
_OUTCOMES: Mapping[str, str] = {
    "change.applied": "applied",
    "change.failed": "failed",
    "change.refused": "refused",
    "change.went_stale": "stale",
}
# Runs whose end this process never sees, since another took them over, are forgotten beyond this.
_MOST_RUNS = 10_000


class Metrics:
    """An observer of events; `render` adds figures that are read when somebody looks."""

    def __init__(self, clock: Clock) -> None:
        without_times_of_creation()  # type: ignore[no-untyped-call]
        self._clock = clock
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)
        self._begun: dict[str, float] = {}
        self._claimed = self._counter("feedback_claimed", "Attempts that began.")
        self._finished = self._counter("feedback_finished", "Feedback that ended.", "status")
        for status in FeedbackStatus:
            if status.is_end:
                self._finished.labels(status)
        self._retried = self._counter(
            "feedback_retried", "Attempts that failed for a passing reason, to be tried again."
        )
        self._changes = self._counter(
            "changes", "Changes that were asked for.", "kind", "operation", "outcome"
        )
        self._calls = self._counter("model_calls", "Model calls that were answered.")
        self._tokens = self._counter("model_tokens", "Tokens of those calls.", "direction")
        self._cost = self._counter("model_cost", "Money for those calls, in PRICE_CURRENCY.")
        self._seconds = Histogram(
            "skill_worker_run_seconds",
            "Wall time of one agent's run, from its start or resumption to its verdict.",
            registry=self._registry,
            buckets=RUN_BUCKETS,
        )
        self._notes: Mapping[str, Callable[[RunEvent], None]] = {
            "feedback.claimed": lambda _: self._claimed.inc(),
            "feedback.finished": self._note_finished,
            "feedback.cancelled": lambda _: self._finished.labels(FeedbackStatus.CANCELLED).inc(),
            "feedback.retried": self._note_retried,
            "feedback.held_back": self._forget,
            "run.started": self._note_started,
            "run.finished": self._note_run,
            **dict.fromkeys(_OUTCOMES, self._note_change),
        }

    def observe(self, event: RunEvent, spent: Usage) -> None:
        """Count an event, and what was spent on it."""
        self._calls.inc(spent.model_calls)
        self._tokens.labels("input").inc(spent.input_tokens)
        self._tokens.labels("output").inc(spent.output_tokens)
        self._cost.inc(float(spent.cost))
        note = self._notes.get(event.name)
        if note is not None:
            note(event)

    def render(self, figures: Figures) -> bytes:
        """Give all metrics in Prometheus' text form."""
        return generate_latest(self._registry) + generate_latest(Gauges(figures))

    def _counter(self, name: str, text: str, *labels: str) -> Counter:
        return Counter(f"skill_worker_{name}", text, labels, registry=self._registry)

    def _note_finished(self, event: RunEvent) -> None:
        self._finished.labels(str(event.data.get("status"))).inc()
        self._forget(event)

    def _forget(self, event: RunEvent) -> None:
        self._begun.pop(event.feedback_id or "", None)

    def _note_retried(self, event: RunEvent) -> None:
        self._retried.inc()
        self._forget(event)

    def _note_change(self, event: RunEvent) -> None:
        kind, operation = (str(event.data.get(key)) for key in ("kind", "operation"))
        self._changes.labels(kind, operation, _OUTCOMES[event.name]).inc()

    def _note_started(self, event: RunEvent) -> None:
        """Remember when a run began: a piece of feedback has one at a time."""
        if event.feedback_id is None:
            return
        if len(self._begun) >= _MOST_RUNS:
            del self._begun[next(iter(self._begun))]
        self._begun[event.feedback_id] = self._clock()

    def _note_run(self, event: RunEvent) -> None:
        began = self._begun.pop(event.feedback_id or "", None)
        if began is not None:
            self._seconds.observe(self._clock() - began)
