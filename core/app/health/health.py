"""A worker's health: whether its event loop runs, whether it is ready, and its figures."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

import structlog
from prometheus_client import (
    CollectorRegistry,
    Counter,
    Histogram,
    ProcessCollector,
    generate_latest,
)
from prometheus_client import disable_created_metrics as without_times_of_creation

from core.app.health.figures import Clock, Figures, Gauges, Reading
from core.domain.errors import SkillWorkerError
from core.domain.messages import Message
from core.domain.models import FeedbackStatus, PauseKind, RunEvent, Usage
from core.domain.models.access import TokenKind
from core.domain.ports import Backlog
from core.domain.tasks import end_tasks

TICK_SECONDS = 1.0
SILENCE_SECONDS = 10.0


class Pulse:
    """Detects a blocked event loop: a task notes the time every second."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._last = clock()

    @asynccontextmanager
    async def beating(self) -> AsyncIterator[None]:
        """Note the time regularly as long as the context lasts."""
        beat = asyncio.create_task(self._beat())
        try:
            yield
        finally:
            await end_tasks([beat])

    def age(self) -> float:
        """Return the seconds since the last note."""
        return self._clock() - self._last

    def is_alive(self) -> bool:
        """Whether the last note is recent enough."""
        return self.age() <= SILENCE_SECONDS

    async def _beat(self) -> None:
        while True:
            self._last = self._clock()
            await asyncio.sleep(TICK_SECONDS)


RUN_BUCKETS = (0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800)
_OUTCOMES: Mapping[str, str] = {
    "change.applied": "applied",
    "change.failed": "failed",
    "change.refused": "refused",
    "change.went_stale": "stale",
}
# Runs that another worker took over never end in this process: beyond this many, the oldest are
# forgotten.
_MOST_RUNS = 10_000


class Metrics:
    """An observer of events; `render` adds figures that are read on demand."""

    def __init__(self, clock: Clock) -> None:
        # Each counter would come with a second series that says when it was created.
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
        self._refused = self._counter(
            "access_refused", "Calls with a wrong token, session or link.", "credential"
        )
        for kind in TokenKind:
            self._refused.labels(kind)
        self._folded = self._counter(
            "uses_folded", "Uses counted without their item: too many items waited to be stored."
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
            "access.refused": lambda event: self._refused.labels(event.data["credential"]).inc(),
            "uses.folded": lambda _: self._folded.inc(),
            **dict.fromkeys(_OUTCOMES, self._note_change),
        }

    def observe(self, event: RunEvent, spent: Usage) -> None:
        """Count an event and its costs."""
        self._calls.inc(spent.model_calls)
        self._tokens.labels("input").inc(spent.input_tokens)
        self._tokens.labels("output").inc(spent.output_tokens)
        self._cost.inc(float(spent.cost))
        note = self._notes.get(event.name)
        if note is not None:
            note(event)

    def render(self, figures: Figures) -> bytes:
        """Return all metrics in Prometheus' text format."""
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


log = structlog.get_logger(__name__)

T = TypeVar("T")
Probe = Callable[[], Awaitable[None]]

KEEP_SECONDS = 2.0
PATIENCE_SECONDS = 2.0
# The total of ended feedback takes longer the more there is: read it at most 1/n of the time.
REST = 100.0
OK = "ok"
LATE = "timeout"


class State(StrEnum):
    """The phase of a worker's life."""

    STARTING = "starting"
    WORKING = "working"
    STOPPING = "stopping"


async def _nobody() -> int:
    return 0


@dataclass(frozen=True, kw_only=True)
class Watched:
    """What can be watched once the program is open.

    A probe raises SkillWorkerError if its dependency is not well. `pauses` returns why no work
    starts, `running` the number of pieces that this process works on, `at_budget` that of tenants
    blocked by their budget.
    """

    probes: Mapping[str, Probe]
    backlog: Backlog
    pauses: Callable[[], Awaitable[Collection[PauseKind]]]
    running: Callable[[], int]
    at_budget: Callable[[], Awaitable[int]] = _nobody


class Health:
    """The health of one worker. `stopping` returns whether it was told to stop."""

    def __init__(self, *, stopping: Callable[[], bool], clock: Clock) -> None:
        self.metrics = Metrics(clock)
        self.pulse = Pulse(clock)
        self._stopping = stopping
        self._clock = clock
        self._readings: _Readings | None = None

    @property
    def state(self) -> State:
        """The worker's phase; it is stopping as soon as it is told to."""
        if self._stopping():
            return State.STOPPING
        return State.WORKING if self._readings else State.STARTING

    @asynccontextmanager
    async def watching(self, watched: Watched) -> AsyncIterator[None]:
        """Watch these while the context lasts: the worker is working."""
        readings = self._readings = _Readings(watched, self._clock)
        try:
            yield
        finally:
            self._readings = None
            await readings.close()

    async def checks(self) -> Mapping[str, str]:
        """Return each dependency's state: `ok`, `timeout`, or the kind of its error."""
        return await self._readings.checks() if self._readings else {}

    async def figures(self) -> Figures:
        """Return the figures as far as they can be read in time."""
        return await self._readings.figures() if self._readings else Figures()


class _Readings:
    """One shared reading each, so that dependencies see the same load however many ask."""

    def __init__(self, watched: Watched, clock: Clock) -> None:
        def cached(read: Callable[[], Awaitable[T]], rest: float = 0) -> Reading[T]:
            return Reading(
                read, keep=KEEP_SECONDS, patience=PATIENCE_SECONDS, clock=clock, rest=rest
            )

        self._running = watched.running
        self._checks = {
            name: cached(_Check(name, probe).state) for name, probe in watched.probes.items()
        }
        self._pauses = cached(lambda: _or_none(watched.pauses))
        self._waiting = cached(lambda: _or_none(watched.backlog.waiting), REST)
        self._ended = cached(lambda: _or_none(watched.backlog.ended), REST)
        self._undecided = cached(lambda: _or_none(watched.backlog.undecided), REST)
        self._at_budget = cached(lambda: _or_none(watched.at_budget), REST)
        self._going_out = cached(lambda: _or_none(watched.backlog.going_out), REST)

    async def checks(self) -> Mapping[str, str]:
        found = await asyncio.gather(*(check.get() for check in self._checks.values()))
        return {name: state or LATE for name, state in zip(self._checks, found, strict=True)}

    async def figures(self) -> Figures:
        checks, (pauses, waiting, ended), (undecided, at_budget, going_out) = await asyncio.gather(
            self.checks(),
            asyncio.gather(self._pauses.get(), self._waiting.get(), self._ended.get()),
            asyncio.gather(self._undecided.get(), self._at_budget.get(), self._going_out.get()),
        )
        return Figures(
            running=self._running(),
            up={name: state == OK for name, state in checks.items()},
            pauses=pauses,
            waiting=waiting,
            ended=ended,
            undecided=undecided,
            at_budget=at_budget,
            going_out=going_out,
        )

    async def close(self) -> None:
        figures: list[Reading[object]] = [self._pauses, self._waiting, self._ended]
        figures += [self._undecided, self._at_budget, self._going_out]
        for reading in [*figures, *self._checks.values()]:
            await reading.close()


class _Check:
    """Probes one dependency, and logs when its state changes."""

    def __init__(self, name: str, probe: Probe) -> None:
        self._name = name
        self._probe = probe
        self._last = OK

    async def state(self) -> str:
        error = await _failure(self._probe)
        state = error.kind if error else OK
        if state != self._last and error:
            log.warning("dependency.lost", dependency=self._name, error=error.message)
        elif state != self._last:
            log.info("dependency.found", dependency=self._name)
        self._last = state
        return state


async def _failure(probe: Probe) -> SkillWorkerError | None:
    try:
        await probe()
    except SkillWorkerError as error:
        return error
    except Exception as error:  # a broken probe must not break the answer
        log.exception("dependency.broke")
        return SkillWorkerError(Message("error.unexpected", type=type(error).__name__, why=error))
    return None


async def _or_none(read: Callable[[], Awaitable[T]]) -> T | None:
    """Return what is read, or None: the dependency's check reports the reason."""
    try:
        return await read()
    except SkillWorkerError:
        return None
    except Exception:  # as above
        log.exception("dependency.broke")
        return None
