"""1,000 tenants and 10 million feedback a day, from measured costs: `… benchmarks simulate`."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from heapq import merge
from random import Random

from tests.benchmarks.costs import Costs, load_costs
from tests.benchmarks.sim_load import HOURS, Load
from tests.benchmarks.sim_needs import print_needs
from tests.benchmarks.sim_queue import Arrival, Limits, Outcome, Piece, Simulation
from tests.benchmarks.table import Figure

CONCURRENCY = 32  # WORKER_CONCURRENCY
EVERY = 2  # hours between slices
SLICE = 240.0  # seconds that are simulated of each
WARM_UP = 60.0  # seconds at its beginning that do not count
LARGE, SMALL = 10, 900  # how many of the largest and of the smallest tenants are shown
PATIENCE = 1.0  # seconds that 99 of 100 may wait at the peak
FLOOD, FLOOD_AT, FLOOD_SECONDS = 100_000, 60.0, 600.0
SEED = 20261120


@dataclass(frozen=True)
class World:
    """The load, what a piece costs, and the number of workers."""

    load: Load
    costs: Costs
    workers: int = 0

    @property
    def overhead(self) -> float:
        """The seconds of a piece that are not the model's."""
        measured = self.costs.worker_cpu_ms + self.costs.round_trips * self.costs.trip_ms
        return measured * self.load.calls_a_piece / 2 / 1000

    def simulate(
        self,
        arrivals: Iterable[Arrival],
        seconds: float,
        *,
        fair: bool = True,
        limits: Limits | None = None,
    ) -> Outcome:
        """Simulate a slice with all workers."""
        simulation = Simulation(
            slots=self.workers * CONCURRENCY,
            draw=partial(self.load.draw, Random(SEED)),
            overhead=self.overhead,
            limits=limits,
            fair=fair,
        )
        return simulation.run(arrivals, until=seconds)

    def hour(self, hour: int) -> Outcome:
        """Simulate a slice of an hour of the day."""
        return self.simulate(self.load.arrivals(Random(SEED + hour), hour, SLICE), SLICE)


async def measure() -> list[Figure]:
    """Print what it takes and what breaks first, without a promise; under a minute."""
    world = sized(Load(), load_costs())
    _print_assumptions(world)
    _print_day(world)
    _print_flood(world)
    _print_held_back(world)
    print_needs(world.load, world.costs, world.workers)
    return []


def _print_assumptions(world: World) -> None:
    load = world.load
    print(f"Costs measured {world.costs.machine}. Assumed: {load.a_day:,} feedback a day,")
    print(f"{load.peak} times the mean at its height, of {load.tenants:,} tenants with shares")
    print(f"1 / rank^{load.zipf}; {load.calls_a_piece:.2f} model calls a piece, of")
    print(f"{load.call_seconds:.1f} s on average. {CONCURRENCY} pieces at a time a worker.\n")


def sized(load: Load, costs: Costs) -> World:
    """Return the fewest workers with which waits at the peak are short."""
    bare = World(load, costs)
    busy = load.rate(load.peak_hour) * (load.calls_a_piece * load.call_seconds + bare.overhead)
    workers = math.ceil(busy / CONCURRENCY)
    while True:
        world = World(load, costs, workers)
        _progress(f"{workers} workers at the peak")
        if quantiles(measured(world.hour(load.peak_hour)))[-1] <= PATIENCE:
            return world
        workers += max(1, workers // 50)


def measured(outcome: Outcome) -> list[Piece]:
    """Return the finished pieces that arrived after the warm-up."""
    return [piece for piece in outcome.done if piece.arrived >= WARM_UP]


def quantiles(pieces: Sequence[Piece]) -> tuple[float, float, float]:
    """Return the median, p95 and p99 of the seconds that pieces waited."""
    waits = sorted(piece.waited for piece in pieces) or [math.nan]
    half, p95, p99 = (waits[int(share * (len(waits) - 1))] for share in (0.5, 0.95, 0.99))
    return half, p95, p99


def _print_day(world: World) -> None:
    print("Seconds waited are p50 / p95 / p99.\n")
    print(f"| hour | feedback/s | in use | {LARGE} largest wait | {SMALL} smallest wait |")
    print("|---|---|---|---|---|")
    _progress("a day")
    for hour in range(world.load.peak_hour % EVERY, HOURS, EVERY):
        outcome = world.hour(hour)
        used = outcome.busy / outcome.seconds / (world.workers * CONCURRENCY)
        cells = f"{hour}", f"{world.load.rate(hour):.0f}", f"{used:.0%}", *_waits(world, outcome)
        print(f"| {' | '.join(cells)} |")


def _waits(world: World, outcome: Outcome) -> tuple[str, str]:
    pieces = measured(outcome)
    smallest = world.load.tenants - SMALL
    return (
        _in_words(quantiles([piece for piece in pieces if piece.tenant < LARGE])),
        _in_words(quantiles([piece for piece in pieces if piece.tenant >= smallest])),
    )


def _in_words(found: tuple[float, float, float]) -> str:
    return " / ".join(f"{seconds:.1f}" for seconds in found) + " s"


def _print_flood(world: World) -> None:
    """Print what happens if one tenant inserts minutes of everyone's feedback at the peak."""
    print(
        f"\nThe largest tenant adds {FLOOD:,} at once at the peak; waits of the others after it:\n"
    )
    print("| line | others p50 / p95 / p99 | waiting after ten minutes |")
    print("|---|---|---|")
    for name, fair in (("fair turns", True), ("first come, first served", False)):
        _progress(f"flood, {name}")
        outcome = world.simulate(_flood(world), FLOOD_SECONDS, fair=fair)
        others = [p for p in outcome.done if p.tenant and p.arrived >= FLOOD_AT]
        print(f"| {name} | {_in_words(quantiles(others))} | {outcome.waiting:,} |")


def _flood(world: World) -> Iterator[Arrival]:
    usual = world.load.arrivals(Random(SEED), world.load.peak_hour, FLOOD_SECONDS)
    return merge(usual, ((FLOOD_AT, 0) for _ in range(FLOOD)))


def _print_held_back(world: World) -> None:
    """Print what happens if the model's limit is a tenth below the peak's demand."""
    load = world.load
    per_minute = 0.9 * load.rate(load.peak_hour) * load.calls_a_piece * 60
    arrivals = load.arrivals(Random(SEED), load.peak_hour, FLOOD_SECONDS)
    outcome = world.simulate(arrivals, FLOOD_SECONDS, limits=Limits(per_minute=per_minute))
    begun = outcome.calls / outcome.seconds * 60
    print(
        f"\nWith LLM_REQUESTS_PER_MINUTE={per_minute:,.0f}, a tenth less than the peak asks for,"
        f" {begun:,.0f} calls a minute are begun, and after ten minutes {outcome.waiting:,} wait."
    )


def _progress(text: str) -> None:
    print(f"simulating {text} …", file=sys.stderr, flush=True)
