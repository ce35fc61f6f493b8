"""Checking of decision tables: a usual size within a second, ten thousand rows within seconds."""

from __future__ import annotations

import time
from collections.abc import Callable
from random import Random
from statistics import median

from core.decision_table import check_table
from core.decision_table.feel import parse_expression, parse_tests
from core.domain.models import DecisionTable, HitPolicy, InputColumn
from tests.benchmarks.table import Figure
from tests.support.table_cells import table
from tests.support.table_partitions import clean_table

ROWS, COLUMNS, ROUNDS = 200, 6, 7
MANY, LONG = 10_000, 1_000
SECOND = 1.0
SECONDS = 15.0


async def measure() -> list[Figure]:
    """Check unseen tables each round: parsed ones are cached."""
    figures = []
    for policy, seeds in ((HitPolicy.UNIQUE, range(2 * ROUNDS)), (HitPolicy.FIRST, range(50, 64))):
        tables = [clean_table(seed, ROWS, COLUMNS, policy).table for seed in seeds]
        figures.append(_figure(f"sound, {policy}", tables))
    tables = [_stairs(seed) for seed in range(2 * ROUNDS)]
    figures.append(_figure("all rows meet, FIRST", tables))
    for name, kind, cell in _LISTS:
        for policy in (HitPolicy.UNIQUE, HitPolicy.FIRST):
            tables = [_listed(kind, cell, Random(seed), policy) for seed in range(2 * ROUNDS)]
            figures.append(_figure(f"{name}, {policy}", tables))
    figures.append(_long_lists())
    figures.append(_many())
    return figures


def _figure(name: str, tables: list[DecisionTable]) -> Figure:
    floor = median(_seconds(_parse, one) for one in tables[:ROUNDS])
    checks = [_seconds(check_table, one) for one in tables[ROUNDS:]]
    return Figure(
        f"check {ROWS} rows × {COLUMNS} inputs ({name})",
        f"median {median(checks) * 1000:.0f} ms, worst {max(checks) * 1000:.0f} ms",
        f"{SECOND:.0f} s; parsing the cells alone: {floor * 1000:.0f} ms",
        max(checks) / SECOND,
        at_most=1,
    )


def _many() -> Figure:
    one = clean_table(1, MANY, COLUMNS).table
    taken = _seconds(check_table, one)
    return Figure(
        f"check {MANY} rows × {COLUMNS} inputs",
        f"{taken:.1f} s",
        f"{SECONDS:.0f} s; parsing the cells alone: {_seconds(_parse, one):.1f} s",
        taken / SECONDS,
        at_most=1,
    )


def _stairs(seed: int) -> DecisionTable:
    """Return overlapping rows of which none covers another, and a last row for the rest."""
    columns = [InputColumn(name=f"n{place}", type="number") for place in range(COLUMNS)]
    rows = [
        [f"> {seed * 1000 + (row * (place + 3)) % ROWS}" for place in range(COLUMNS)]
        for row in range(ROWS - 1)
    ]
    return table(columns, [*rows, ["-"] * COLUMNS], policy=HitPolicy.FIRST)


def _numbers(random: Random) -> str:
    return f"not({', '.join(str(random.randint(0, 50)) for _ in range(10))})"


def _texts(random: Random) -> str:
    return ", ".join(f'"c{number}"' for number in random.sample(range(40), 8))


# Cells of many runs: the first of these tables makes the search explode; it has to give up in time.
_LISTS: tuple[tuple[str, str, Callable[[Random], str]], ...] = (
    ("not 10 numbers", "number", _numbers),
    ("not 8 of 40 strings", "string", lambda random: f"not({_texts(random)})"),
    ("8 of 40 strings", "string", _texts),
    ("unlike a number", "number", lambda random: f"!= {random.randint(0, 100)}"),
)


def _listed(
    kind: str, cell: Callable[[Random], str], random: Random, policy: HitPolicy
) -> DecisionTable:
    columns = [InputColumn(name=f"n{place}", type=kind) for place in range(COLUMNS)]
    rows = [[cell(random) for _ in columns] for _ in range(ROWS)]
    return table(columns, rows, policy=policy)


def _long_lists() -> Figure:
    random = Random(1)
    columns = [InputColumn(name=name, type="number") for name in ("n", "m")]
    rows = [
        [", ".join(str(random.randint(0, 100_000)) for _ in range(LONG)), "-"] for _ in range(ROWS)
    ]
    one = table(columns, rows, policy=HitPolicy.FIRST)
    floor = _seconds(_parse, one)  # parsed tables are cached
    taken = _seconds(check_table, one)
    return Figure(
        f"check {ROWS} rows × {LONG} numbers each",
        f"{taken:.1f} s beside parsing",
        f"{SECONDS:.0f} s; parsing the cells alone: {floor:.1f} s",
        taken / SECONDS,
        at_most=1,
    )


def _parse(one: DecisionTable) -> None:
    names = [column.name for column in one.inputs]
    for row in one.rows:
        for cell in row.inputs:
            parse_tests(cell, names)
        for cell in row.outputs:
            parse_expression(cell, names)


def _seconds(work: Callable[[DecisionTable], object], one: DecisionTable) -> float:
    started = time.process_time()
    work(one)
    return time.process_time() - started
