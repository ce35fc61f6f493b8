"""The simulated load: a day's arrivals over tenants of unequal size, and model calls."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from random import Random

from tests.benchmarks.sim_queue import Arrival

DAY = 86_400
HOURS = 24


@dataclass(frozen=True)
class Load:
    """Assumptions, none of them measured: adapt them to your own load.

    Tenants have shares of 1 / rank ** zipf. The rate follows a sine over the day, at most `peak`
    times its mean. A call takes a log-normal time; `calls` are (number of calls, share).
    """

    tenants: int = 1_000
    a_day: int = 10_000_000
    zipf: float = 1.1
    peak: float = 1.8
    peak_hour: int = 14
    call_median: float = 2.5
    call_sigma: float = 0.6
    calls: tuple[tuple[int, float], ...] = ((2, 0.45), (3, 0.35), (4, 0.15), (6, 0.05))
    chars_a_token: float = 3.5
    answer_tokens: int = 250

    @property
    def calls_a_piece(self) -> float:
        """The mean number of model calls."""
        return sum(number * share for number, share in self.calls)

    @property
    def call_seconds(self) -> float:
        """The mean seconds of a call."""
        return self.call_median * math.exp(self.call_sigma**2 / 2)

    def rate(self, hour: float) -> float:
        """Return the pieces a second at an hour of the day."""
        wave = math.cos((hour - self.peak_hour) / HOURS * math.tau)
        return self.a_day / DAY * (1 + (self.peak - 1) * wave)

    def draw(self, chance: Random) -> list[float]:
        """Return the seconds of one piece's calls."""
        numbers, shares = zip(*self.calls, strict=True)
        (number,) = chance.choices(numbers, shares)
        mean = math.log(self.call_median)
        return [chance.lognormvariate(mean, self.call_sigma) for _ in range(number)]

    def arrivals(self, chance: Random, hour: float, seconds: float) -> Iterator[Arrival]:
        """Yield the arrivals of a slice of the day: a Poisson process over all tenants."""
        weights = [*accumulate(rank**-self.zipf for rank in range(1, self.tenants + 1))]
        ranks, rate, now = range(self.tenants), self.rate(hour), 0.0
        while (now := now + chance.expovariate(rate)) < seconds:
            (tenant,) = chance.choices(ranks, cum_weights=weights)
            yield now, tenant
