"""A discrete simulation of the queue: fair turns, slots for pieces, a rate-limited model."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import count

Arrival = tuple[float, int]  # seconds, tenant


@dataclass(frozen=True)
class Limits:
    """What the model accepts from all workers: concurrent calls, and calls begun per minute."""

    concurrency: float = math.inf
    per_minute: float = math.inf


@dataclass(slots=True)
class Piece:
    """One piece of feedback; `calls` are the seconds of its remaining model calls."""

    tenant: int
    arrived: float
    turn: int = 0
    started: float = math.nan
    ended: float = math.nan
    calls: list[float] = field(default_factory=list)

    @property
    def waited(self) -> float:
        """The seconds from arrival to start."""
        return self.started - self.arrived


@dataclass
class Outcome:
    """The result. `area` is the integral of the pieces in the system over time."""

    done: list[Piece] = field(default_factory=list)
    arrived: int = 0
    waiting: int = 0
    running: int = 0
    calls: int = 0
    area: float = 0.0
    busy: float = 0.0  # slot seconds
    seconds: float = 0.0


class FairLine:
    """Start-time fair queuing over tenants: the lowest turn is next, then first come."""

    def __init__(self, *, fair: bool = True) -> None:
        self._fair = fair
        self._heap: list[tuple[int, int, Piece]] = []
        self._last: dict[int, int] = {}  # the last waiting turn of a tenant
        self._now = 0  # the turn that is being served
        self._order = count()

    def __len__(self) -> int:
        return len(self._heap)

    def push(self, piece: Piece) -> None:
        """Assign a turn: after the tenant's own last, and not before the one being served."""
        if self._fair:
            piece.turn = 1 + max(self._now, self._last.get(piece.tenant, 0))
            self._last[piece.tenant] = piece.turn
        heappush(self._heap, (piece.turn, next(self._order), piece))

    def pop(self) -> Piece:
        """Take the next."""
        *_, piece = heappop(self._heap)
        self._now = max(self._now, piece.turn)
        return piece


class Simulation:
    """Slots that each process one piece, one model call after another.

    `draw` returns the seconds of a piece's calls; `overhead` is what it takes besides.
    """

    def __init__(
        self,
        *,
        slots: int,
        draw: Callable[[], Sequence[float]],
        overhead: float = 0.0,
        limits: Limits | None = None,
        fair: bool = True,
    ) -> None:
        self.line = FairLine(fair=fair)
        self._free = slots
        self._draw = draw
        self._overhead = overhead
        self._limits = limits or Limits()
        self._asking = 0
        self._held: deque[Piece] = deque()
        self._next_call = 0.0
        self._events: list[tuple[float, int, Callable[[Piece], None], Piece]] = []
        self._order = count()
        self._now = 0.0
        self._out = Outcome()

    def run(self, arrivals: Iterable[Arrival], until: float = math.inf) -> Outcome:
        """Process the arrivals, which are ordered by time; stop at `until`."""
        coming = iter(arrivals)
        arrival = next(coming, None)
        while arrival or self._events:
            at = self._events[0][0] if self._events else math.inf
            if min(at, arrival[0] if arrival else math.inf) > until:
                self._pass_to(until)
                break
            if arrival and arrival[0] <= at:
                self._arrive(*arrival)
                arrival = next(coming, None)
            else:
                _, _, happens, piece = heappop(self._events)
                self._pass_to(at)
                happens(piece)
        self._out.waiting, self._out.seconds = len(self.line), self._now
        return self._out

    def _pass_to(self, now: float) -> None:
        inside = self._out.arrived - len(self._out.done)
        self._out.area += (now - self._now) * inside
        self._out.busy += (now - self._now) * self._out.running
        self._now = now

    def _arrive(self, at: float, tenant: int) -> None:
        self._pass_to(at)
        self._out.arrived += 1
        self.line.push(Piece(tenant, at))
        self._fill()

    def _fill(self) -> None:
        while self._free and self.line:
            piece = self.line.pop()
            piece.started, piece.calls = self._now, [*self._draw()]
            self._free -= 1
            self._out.running += 1
            self._later(self._overhead, self._ask, piece)

    def _ask(self, piece: Piece) -> None:
        if not piece.calls:
            self._end(piece)
        elif self._asking >= self._limits.concurrency:
            self._held.append(piece)
        else:
            self._asking += 1
            self._out.calls += 1
            begins = max(self._now, self._next_call)
            self._next_call = begins + 60 / self._limits.per_minute
            self._later(begins - self._now + piece.calls.pop(), self._answer, piece)

    def _answer(self, piece: Piece) -> None:
        self._asking -= 1
        if self._held:
            self._ask(self._held.popleft())
        self._ask(piece)

    def _end(self, piece: Piece) -> None:
        piece.ended = self._now
        self._out.done.append(piece)
        self._out.running -= 1
        self._free += 1
        self._fill()

    def _later(self, seconds: float, happens: Callable[[Piece], None], piece: Piece) -> None:
        heappush(self._events, (self._now + seconds, next(self._order), happens, piece))
