"""The queue simulation obeys the laws of queueing."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from tests.benchmarks.costs import load_costs
from tests.benchmarks.sim_load import Load
from tests.benchmarks.sim_needs import limits
from tests.benchmarks.sim_queue import Arrival, Limits, Outcome, Simulation
from tests.benchmarks.simulation import PATIENCE, measured, quantiles, sized

SLOTS = 8


def arrivals(seed: int, number: int = 2_000, tenants: int = 5, rate: float = 6.0) -> list[Arrival]:
    chance, now, found = random.Random(seed), 0.0, []
    for _ in range(number):
        now += chance.expovariate(rate)
        found.append((now, chance.randrange(tenants)))
    return found


def run(given: list[Arrival], *, limits: Limits | None = None, fair: bool = True) -> Outcome:
    chance = random.Random(1)
    simulation = Simulation(
        slots=SLOTS,
        draw=lambda: [chance.expovariate(2.0) for _ in range(2)],
        overhead=0.05,
        limits=limits,
        fair=fair,
    )
    return simulation.run(given)


@pytest.mark.parametrize("seed", range(5))
def test_what_comes_in_goes_out_once(seed: int) -> None:
    given = arrivals(seed)
    outcome = run(given)
    assert sorted((piece.arrived, piece.tenant) for piece in outcome.done) == given
    assert (outcome.waiting, outcome.running) == (0, 0)
    assert outcome.calls == 2 * len(given)


def test_what_is_cut_off_is_waiting_or_running() -> None:
    simulation = Simulation(slots=SLOTS, draw=lambda: [1.0])
    outcome = simulation.run(arrivals(1, rate=20.0), until=30.0)
    assert outcome.running == SLOTS
    assert outcome.waiting > 0
    assert outcome.arrived == len(outcome.done) + outcome.running + outcome.waiting
    assert outcome.seconds == 30.0


@pytest.mark.parametrize("fair", [True, False])
def test_littles_law_holds(fair: bool) -> None:
    outcome = run(arrivals(2), fair=fair)
    in_system = sum(piece.ended - piece.arrived for piece in outcome.done)
    assert outcome.area == pytest.approx(in_system)
    assert outcome.busy == pytest.approx(sum(p.ended - p.started for p in outcome.done))


def test_slots_never_stand_idle_while_something_waits_nor_hold_two() -> None:
    outcome = run(arrivals(3))
    for piece in outcome.done[::50]:
        if piece.waited > 0:
            at = piece.started - 1e-9
            assert sum(p.started <= at < p.ended for p in outcome.done) == SLOTS


def test_one_queue_of_one_slot_waits_as_theory_says() -> None:
    chance = random.Random(4)
    simulation = Simulation(slots=1, draw=lambda: [chance.expovariate(1.0)])
    outcome = simulation.run(arrivals(5, number=60_000, tenants=1, rate=0.5))
    mean = sum(piece.waited for piece in outcome.done) / len(outcome.done)
    assert mean == pytest.approx(1.0, rel=0.1)  # M/M/1 with half of its time in use


def test_one_piece_behind_five_thousand_of_another_starts_soon() -> None:
    given = [(0.0, 1)] * 5_000 + [(10.0, 2)]
    fair, first_come = run(given), run(given, fair=False)
    place = {}
    for name, outcome in (("fair", fair), ("first come", first_come)):
        (lone,) = (piece for piece in outcome.done if piece.tenant == 2)
        place[name] = sum(10.0 < p.started < lone.started for p in outcome.done)
    assert place["fair"] <= 2 * SLOTS
    assert place["first come"] > 4_000


def test_tenants_that_always_wait_share_the_slots_alike() -> None:
    outcome = Simulation(slots=SLOTS, draw=lambda: [1.0]).run(
        [(0.0, 1)] * 4_000 + [(0.1, tenant) for tenant in (2, 3)] * 1_000, until=200.0
    )
    served = [sum(p.tenant == tenant for p in outcome.done) for tenant in (1, 2, 3)]
    assert max(served) - min(served) <= 2 * SLOTS


def test_the_limits_of_the_model_hold() -> None:
    limits = Limits(concurrency=3, per_minute=120)
    outcome = run(arrivals(6, number=300), limits=limits)
    assert len(outcome.done) == 300
    assert outcome.seconds >= (outcome.calls - 1) / 2  # two begin in a second
    slower = run(arrivals(6, number=300), limits=Limits(concurrency=1))
    assert slower.seconds >= outcome.calls * 0.4  # one at a time, half a second each


def test_as_many_workers_are_found_as_keep_waits_short() -> None:
    load = Load(tenants=20, a_day=500_000)
    world = sized(load, load_costs())
    peak = quantiles(measured(world.hour(load.peak_hour)))
    assert peak[-1] <= PATIENCE
    fewer = replace(world, workers=world.workers // 2)
    assert quantiles(measured(fewer.hour(load.peak_hour)))[-1] > PATIENCE


def test_what_breaks_first_comes_first() -> None:
    found = limits(Load(), load_costs(), 60)
    assert [one.headroom for one in found] == sorted(one.headroom for one in found)
    assert min(found, key=lambda one: one.there / one.needed) is found[0]


def test_the_load_of_a_day_is_that_of_its_hours() -> None:
    load = Load()
    assert sum(load.rate(hour) * 3600 for hour in range(24)) == pytest.approx(load.a_day)
    given = [*load.arrivals(random.Random(1), load.peak_hour, 60.0)]
    assert len(given) == pytest.approx(load.rate(load.peak_hour) * 60, rel=0.05)
    largest = sum(tenant == 0 for _, tenant in given) / len(given)
    assert 0.1 < largest < 0.3
