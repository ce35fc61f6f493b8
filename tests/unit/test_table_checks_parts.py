"""What the checks of a table are made of: sets of segments, and values that stand for a run."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from itertools import combinations, pairwise
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.decision_table.checks.boxes import Space
from core.decision_table.checks.lines import LINES, line_of, lines_of
from core.decision_table.checks.segments import (
    EVERYTHING,
    HIGHEST,
    LOWEST,
    NOTHING,
    Cut,
    after,
    before,
    bits,
    complement,
    contains,
    of_runs,
    run,
    runs_of,
    shared,
    span,
    union,
)
from core.decision_table.feel import Months, Value
from core.domain.models import DecisionRow, DecisionTable, HitPolicy, InputColumn

SETS = st.sets(st.integers(0, 120), max_size=100)


def of(numbers: set[int]) -> int:
    return sum(1 << number for number in numbers)


@given(SETS, SETS)
def test_segments_are_the_bits_of_an_integer(one: set[int], other: set[int]) -> None:
    assert set(bits(of(one))) == one
    runs = [*runs_of(of(one))]
    assert all(end < start for (_, end), (start, _) in pairwise(runs))
    assert of_runs(runs) == of_runs(runs[::-1]) == of(one)
    singly = [(number, number + 1) for number in one]
    assert of_runs(singly) == of(one)  # also of more runs than few
    box, inner = (of(one), of(other)), (of(one & other), of(other))
    assert shared(box, (of(other), of(other))) == inner
    assert contains(box, inner)
    assert contains(inner, box) is (one <= other)


def test_a_span_ends_before_its_end() -> None:
    assert [span(1, 3), span(2, 2), span(3, 1), span(0, 1)] == [0b110, 0, 0, 1]
    assert (of_runs([]), [*runs_of(0)], [*bits(0)]) == (0, [], [])


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=6))
def test_runs_of_values_unite_and_have_a_complement(ends: list[tuple[int, int]]) -> None:
    spans = union([run(before(low), before(high)) for low, high in ends])
    covered = {key for low, high in ends for key in range(low, high)}

    def inside(runs: tuple[tuple[Cut, Cut], ...]) -> set[int]:
        return {key for key in range(10) for low, high in runs if low <= before(key) < high}

    assert inside(spans) == covered
    assert all(one[1] < other[0] for one, other in pairwise(spans))
    assert inside(complement(spans)) == set(range(10)) - covered
    assert complement(complement(spans)) == spans
    assert (complement(NOTHING), complement(EVERYTHING)) == (EVERYTHING, NOTHING)
    assert run(after(1), before(1)) == run(before(1), before(1)) == NOTHING


@pytest.mark.parametrize("rows", [20, 520])
def test_rows_meet_that_share_a_value_of_each_input(rows: int) -> None:
    random = Random(rows)
    kept = []
    for _ in range(rows):
        low = random.randrange(3 * rows)
        ranges = [f"[{low}..{low + random.randrange(rows // 5)}]", str(random.randrange(3 * rows))]
        kept.append((", ".join(ranges), random.choice(("true", "false", "-"))))
    table = DecisionTable(
        name="t",
        hit_policy=HitPolicy.COLLECT,
        inputs=(InputColumn(name="n", type="number"), InputColumn(name="b", type="boolean")),
        outputs=(),
        rows=tuple(
            DecisionRow(id=f"r{number}", inputs=cells, outputs=())
            for number, cells in enumerate(kept)
        ),
    )
    space = Space(table)
    wanted = [1 << number for number in range(rows)]
    for one, other in combinations(range(rows), 2):
        if all(shared(space.boxes[one].must, space.boxes[other].must)):
            wanted[one] |= 1 << other
            wanted[other] |= 1 << one
    assert list(space.meeting) == wanted
    assert space.perhaps_meeting is space.meeting


ZONED = " with a time zone"
DAY, AT, MOMENT = date(2024, 5, 6), time(10, 20, 30), datetime(2024, 5, 6, 10, 20, 30)
SEOUL = timezone(timedelta(hours=9))
MOST = Decimal("9.999999999999999999999999999999999E6144")


def zone(hours: int) -> timezone:
    return timezone(timedelta(hours=hours))


# A line, two cuts, the value that stands for what lies between, how well it reads, if it is alone.
PICKS: list[tuple[str, Cut, Cut, Value, int, bool]] = [
    ("number", LOWEST, HIGHEST, Decimal(0), 1, False),
    ("number", before(Decimal(5)), HIGHEST, Decimal(5), 0, False),
    ("number", after(Decimal(5)), HIGHEST, Decimal(6), 1, False),
    ("number", after(Decimal("5.5")), HIGHEST, Decimal(6), 1, False),
    ("number", after(Decimal(5)), before(Decimal(6)), Decimal("5.5"), 1, False),
    ("number", after(Decimal(5)), before(Decimal("5.2")), Decimal("5.1"), 1, False),
    ("number", after(Decimal(5)), after(Decimal(6)), Decimal(6), 0, False),
    ("number", LOWEST, after(Decimal(5)), Decimal(5), 0, False),
    ("number", LOWEST, before(Decimal(5)), Decimal(4), 1, False),
    ("number", LOWEST, before(Decimal("5.5")), Decimal(5), 1, False),
    ("number", before(Decimal(5)), after(Decimal(5)), Decimal(5), 0, True),
    ("number", before(Decimal(0)), after(Decimal(0)), Decimal(0), 0, True),
    ("string", LOWEST, HIGHEST, "other", 0, False),
    ("string", before("b"), HIGHEST, "b", 0, False),
    ("string", after("b"), HIGHEST, "other", 0, False),
    ("string", after("b"), before("c"), "b0", 1, False),
    ("string", after("b"), before("b0"), "b ", 1, False),
    ("string", after("b"), before("b "), "b\x01", 1, False),
    ("string", after("b"), before("b\x01"), "b\x00", 1, False),
    ("string", LOWEST, before("b"), "0", 1, False),
    ("string", LOWEST, after("b"), "b", 0, False),
    ("string", LOWEST, before("\x00"), "", 2, False),
    ("string", before("b"), after("b"), "b", 0, True),
    ("boolean", LOWEST, HIGHEST, False, 0, False),
    ("boolean", before(True), after(True), True, 0, True),
    ("boolean", LOWEST, before(True), False, 1, True),
    ("boolean", after(False), HIGHEST, True, 1, True),
    ("date", LOWEST, HIGHEST, date(2024, 1, 1), 0, False),
    ("date", before(DAY), HIGHEST, DAY, 0, False),
    ("date", after(DAY), HIGHEST, date(2024, 5, 7), 1, False),
    ("date", LOWEST, before(DAY), date(2024, 5, 5), 1, False),
    ("date", LOWEST, after(DAY), DAY, 0, False),
    ("date", after(DAY), before(date(2024, 5, 8)), date(2024, 5, 7), 1, True),
    ("date", LOWEST, after(date.min), date.min, 0, True),
    ("date", before(date.max), HIGHEST, date.max, 0, True),
    ("time", LOWEST, HIGHEST, time(0), 0, False),
    ("time", before(AT), HIGHEST, AT, 0, False),
    ("time", after(AT), HIGHEST, time(11), 1, False),
    ("time", LOWEST, before(AT), time(10), 1, False),
    ("time", after(AT), before(time(10, 59)), time(10, 21), 1, False),
    ("time", after(AT), before(time(10, 21)), time(10, 20, 31), 1, False),
    ("time", after(AT), before(time(10, 20, 30, 2)), time(10, 20, 30, 1), 1, True),
    ("time", LOWEST, after(time.min), time.min, 0, True),
    (f"time{ZONED}", LOWEST, HIGHEST, time(0, tzinfo=UTC), 0, False),
    (
        f"time{ZONED}",
        LOWEST,
        before(time(0, tzinfo=zone(13))),
        time(0, tzinfo=zone(14)),
        1,
        False,
    ),
    (
        f"time{ZONED}",
        after(time(23, tzinfo=zone(-13))),
        HIGHEST,
        time(23, tzinfo=zone(-14)),
        1,
        False,
    ),
    (
        f"time{ZONED}",
        before(time(9, tzinfo=SEOUL)),
        after(time(9, tzinfo=SEOUL)),
        time(0, tzinfo=UTC),
        0,
        True,
    ),
    ("date and time", LOWEST, HIGHEST, datetime(2024, 1, 1), 0, False),
    ("date and time", after(MOMENT), HIGHEST, datetime(2024, 5, 7), 1, False),
    ("date and time", LOWEST, before(MOMENT), datetime(2024, 5, 6), 1, False),
    (
        "date and time",
        after(MOMENT),
        before(datetime(2024, 5, 7)),
        datetime(2024, 5, 6, 11),
        1,
        False,
    ),
    (f"date and time{ZONED}", LOWEST, HIGHEST, datetime(2024, 1, 1, tzinfo=UTC), 0, False),
    (
        f"date and time{ZONED}",
        before(MOMENT.replace(tzinfo=SEOUL)),
        after(MOMENT.replace(tzinfo=SEOUL)),
        datetime(2024, 5, 6, 1, 20, 30, tzinfo=UTC),
        0,
        True,
    ),
    ("days and time duration", LOWEST, HIGHEST, timedelta(0), 0, False),
    ("days and time duration", after(timedelta(hours=5)), HIGHEST, timedelta(1), 1, False),
    ("days and time duration", LOWEST, before(timedelta(hours=5)), timedelta(0), 1, False),
    ("days and time duration", LOWEST, before(timedelta(hours=-5)), timedelta(-1), 1, False),
    (
        "days and time duration",
        after(timedelta(hours=5)),
        before(timedelta(hours=5, seconds=3)),
        timedelta(hours=5, seconds=1),
        1,
        False,
    ),
    ("years and months duration", LOWEST, HIGHEST, Months(0), 0, False),
    ("years and months duration", after(Months(14)), HIGHEST, Months(24), 1, False),
    ("years and months duration", LOWEST, before(Months(14)), Months(12), 1, False),
    ("years and months duration", after(Months(14)), before(Months(16)), Months(15), 1, True),
]
EMPTY = [
    ("number", after(MOST), HIGHEST),
    ("number", LOWEST, before(MOST.copy_negate())),
    ("string", after("b"), before("b\x00")),
    ("string", LOWEST, before("")),
    ("string", before("e\u0301"), after("e\u0301")),  # not as texts are normalised
    ("boolean", after(True), HIGHEST),
    ("boolean", LOWEST, before(False)),
    ("date", after(DAY), before(date(2024, 5, 7))),
    ("date", LOWEST, before(date.min)),
    ("date", after(date.max), HIGHEST),
    ("time", LOWEST, before(time.min)),
    ("time", after(time.max), HIGHEST),
    ("time", after(AT), before(time(10, 20, 30, 1))),
    (f"time{ZONED}", LOWEST, before(time(0, tzinfo=zone(14)))),
    (f"time{ZONED}", after(time.max.replace(tzinfo=zone(-14))), HIGHEST),
    ("date and time", after(datetime.max), HIGHEST),
    ("date and time", LOWEST, before(datetime.min)),
    ("years and months duration", after(Months(14)), before(Months(15))),
]


def keyed(line: str, cut: Cut) -> Cut:
    return cut if cut in (LOWEST, HIGHEST) else (0, LINES[line].key(cut[1]), cut[2])  # type: ignore[arg-type]


@pytest.mark.parametrize(("line", "low", "high", "value", "rank", "alone"), PICKS)
def test_a_run_is_represented_by_a_value_that_reads_well(
    line: str, low: Cut, high: Cut, value: Value, rank: int, alone: bool
) -> None:
    start, end = keyed(line, low), keyed(line, high)
    pick = LINES[line].pick(start, end)
    assert pick is not None
    assert (repr(pick.value), pick.rank) == (repr(value), rank)
    assert LINES[line].single(start, end) is alone


@pytest.mark.parametrize(("line", "low", "high"), EMPTY)
def test_a_run_without_values_is_none(line: str, low: Cut, high: Cut) -> None:
    assert LINES[line].pick(keyed(line, low), keyed(line, high)) is None


def test_moments_with_and_without_a_time_zone_are_two_lines() -> None:
    values = [
        time(1),
        time(1, tzinfo=SEOUL),
        MOMENT,
        MOMENT.replace(tzinfo=SEOUL),
        DAY,
        None,
        Decimal(1),
    ]
    assert [line_of(value) for value in values] == [
        "time",
        f"time{ZONED}",
        "date and time",
        f"date and time{ZONED}",
        "date",
        "null",
        "number",
    ]
    assert lines_of("time") == ("time", f"time{ZONED}")
    assert (lines_of("date"), lines_of("list")) == (("date",), ())
