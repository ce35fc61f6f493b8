"""A worker's health: whether its loop turns, whether it is ready, and its figures."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

import structlog

from core.errors import SkillWorkerError
from core.health.figures import Figures
from core.health.metrics import Metrics
from core.health.pulse import Pulse
from core.health.reading import Clock, Reading
from core.models import HoldKind
from core.ports import Backlog

log = structlog.get_logger(__name__)

T = TypeVar("T")
Probe = Callable[[], Awaitable[None]]

KEEP_SECONDS = 2.0
PATIENCE_SECONDS = 2.0
# Counting all that ever ended takes longer the more that is: at most this share of the time, 1/n.
REST = 100.0
OK = "ok"
LATE = "timeout"


class State(StrEnum):
    """Where a worker stands between its start and its end."""

    STARTING = "starting"
    WORKING = "working"
    STOPPING = "stopping"


async def _nobody() -> int:
    return 0


@dataclass(frozen=True, kw_only=True)
class Watched:
    """What can be looked at once the program is open.

    A probe raises SkillWorkerError where its dependency is not well. `holds` gives why no
    work is begun, `running` the number of pieces that this process works on, `at_budget` that of
    the tenants held back by their budget.
    """

    probes: Mapping[str, Probe]
    backlog: Backlog
    holds: Callable[[], Awaitable[Collection[HoldKind]]]
    running: Callable[[], int]
    at_budget: Callable[[], Awaitable[int]] = _nobody


class Health:
    """What is told of one worker. `stopping` says whether it was told to stop."""

    def __init__(self, *, stopping: Callable[[], bool], clock: Clock) -> None:
        self.metrics = Metrics(clock)
        self.pulse = Pulse(clock)
        self._stopping = stopping
        self._clock = clock
        self._readings: _Readings | None = None

    @property
    def state(self) -> State:
        """Where the worker stands; it is stopping as soon as it is told to."""
        if self._stopping():
            return State.STOPPING
        return State.WORKING if self._readings else State.STARTING

    @asynccontextmanager
    async def watching(self, watched: Watched) -> AsyncIterator[None]:
        """Look at these while the context lasts: the worker works."""
        readings = self._readings = _Readings(watched, self._clock)
        try:
            yield
        finally:
            self._readings = None
            await readings.close()

    async def checks(self) -> Mapping[str, str]:
        """Give each dependency's state: `ok`, `timeout`, or the kind of its error."""
        return await self._readings.checks() if self._readings else {}

    async def figures(self) -> Figures:
        """Give the figures as far as they can be read in time."""
        return await self._readings.figures() if self._readings else Figures()


class _Readings:
    """One shared reading each, so that however many ask, nobody is asked more often."""

    def __init__(self, watched: Watched, clock: Clock) -> None:
        def kept(read: Callable[[], Awaitable[T]], rest: float = 0) -> Reading[T]:
            return Reading(
                read, keep=KEEP_SECONDS, patience=PATIENCE_SECONDS, clock=clock, rest=rest
            )

        self._running = watched.running
        self._checks = {
            name: kept(_Check(name, probe).look) for name, probe in watched.probes.items()
        }
        self._holds = kept(lambda: _or_none(watched.holds))
        self._waiting = kept(lambda: _or_none(watched.backlog.waiting), REST)
        self._ended = kept(lambda: _or_none(watched.backlog.ended), REST)
        self._undecided = kept(lambda: _or_none(watched.backlog.undecided), REST)
        self._at_budget = kept(lambda: _or_none(watched.at_budget), REST)

    async def checks(self) -> Mapping[str, str]:
        found = await asyncio.gather(*(check.get() for check in self._checks.values()))
        return {name: state or LATE for name, state in zip(self._checks, found, strict=True)}

    async def figures(self) -> Figures:
        checks, holds, waiting, ended, undecided, at_budget = await asyncio.gather(
            self.checks(),
            self._holds.get(),
            self._waiting.get(),
            self._ended.get(),
            self._undecided.get(),
            self._at_budget.get(),
        )
        return Figures(
            running=self._running(),
            up={name: state == OK for name, state in checks.items()},
            holds=holds,
            waiting=waiting,
            ended=ended,
            undecided=undecided,
            at_budget=at_budget,
        )

    async def close(self) -> None:
        figures: list[Reading[object]] = [self._holds, self._waiting, self._ended]
        figures += [self._undecided, self._at_budget]
        for reading in [*figures, *self._checks.values()]:
            await reading.close()


class _Check:
    """Asks one dependency, and logs when it stops or begins to answer."""

    def __init__(self, name: str, probe: Probe) -> None:
        self._name = name
        self._probe = probe
        self._last = OK

    async def look(self) -> str:
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
    except Exception as error:  # a probe that breaks must not take the answer down
        log.exception("dependency.broke")
        return SkillWorkerError(f"unexpected {type(error).__name__}: {error}")
    return None


async def _or_none(read: Callable[[], Awaitable[T]]) -> T | None:
    """Give what is read, or None: why it cannot be is what the dependency's check says."""
    try:
        return await read()
    except SkillWorkerError:
        return None
    except Exception:  # as above
        log.exception("dependency.broke")
        return None
