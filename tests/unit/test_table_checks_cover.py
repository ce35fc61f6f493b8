"""The cover check agrees with counting cell by cell, or gives no answer."""

from __future__ import annotations

from collections import Counter
from itertools import product
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.decision_table import check_table
from core.decision_table.checks.cover import Budget, GaveUp, uncovered
from core.decision_table.checks.segments import Side, Sides, bits
from core.domain.models import DefectKind, HitPolicy, InputColumn, OutputColumn
from tests.support.table_cells import table

WIDTH, SEGMENTS = 3, 6
PLENTY = 10_000_000


def some(random: Random, least: int = 1) -> Side:
    """Segments that need not be adjacent."""
    numbers = random.sample(range(SEGMENTS), random.randint(least, SEGMENTS))
    return sum(1 << number for number in numbers)


def cells(box: Sides) -> set[tuple[int, ...]]:
    sides = [list(bits(side)) for side in box]
    return set(product(*sides))


@given(seed=st.integers(0, 1_000_000))
def test_a_part_that_nothing_covers_is_found_where_there_is_one(seed: int) -> None:
    random = Random(seed)
    box = tuple(some(random, 3) for _ in range(WIDTH))
    rows = [
        tuple(some(random, random.choice((1, 4))) for _ in range(WIDTH))
        for _ in range(random.choice((0, 3, 12, 30, 60)))
    ]
    bare = cells(box).difference(*map(cells, rows))
    found = uncovered(box, rows, Budget(PLENTY))
    assert (found is None) is (not bare)
    assert found is None or (cells(found) and cells(found) <= bare)


@given(seed=st.integers(0, 1_000_000))
def test_boxes_that_do_not_meet_are_only_counted(seed: int) -> None:
    random = Random(seed)
    whole: Sides = ((1 << SEGMENTS) - 1,) * WIDTH
    points = random.sample(sorted(cells(whole)), random.randint(0, SEGMENTS**WIDTH))
    rows = [tuple(1 << place for place in point) for point in points]
    found = uncovered(whole, rows, Budget(0), apart=True)
    assert (found is None) is (len(points) == SEGMENTS**WIDTH)
    assert found is None or cells(found).isdisjoint(points)


def test_the_one_that_is_missing_of_many_narrow_boxes_is_found() -> None:
    points = [(1 << place, 1 << half) for place in range(30) for half in range(2)]
    whole: Sides = ((1 << 30) - 1, 0b11)
    assert uncovered(whole, points, Budget(PLENTY)) is None
    missing = points.pop(35)
    assert uncovered(whole, points, Budget(PLENTY)) == missing


def test_a_search_that_would_take_too_long_gives_up() -> None:
    rows = [(1 << place,) * WIDTH for place in range(SEGMENTS)]
    with pytest.raises(GaveUp):
        uncovered(((1 << SEGMENTS) - 1,) * WIDTH, rows, Budget(10))


def test_a_table_that_is_too_hard_says_so_and_ends() -> None:
    """Near the ratio of clauses to variables at which satisfiability is hardest."""
    random, width = Random(7), 60
    rows = []
    for _ in range(int(4.3 * width)):
        row = ["-"] * width
        for place in random.sample(range(width), 3):
            row[place] = random.choice(("true", "false"))
        rows.append(row)
    columns = [InputColumn(name=f"b{number}", type="boolean") for number in range(width)]
    hard = table(columns, [*rows, ["-"] * width], policy=HitPolicy.FIRST)
    found = [defect for defect in check_table(hard) if defect.kind is DefectKind.NOT_CHECKED]
    assert [defect.rows[-1:] for defect in found] == [(f"r{len(rows) + 1}",)]
    assert "too large" in found[0].message
    certain = table(columns, rows, policy=HitPolicy.COLLECT)
    assert [defect.kind for defect in check_table(certain)] == [DefectKind.NOT_CHECKED]


def test_an_input_of_too_many_values_is_not_checked() -> None:
    rows = [[str(number), "-"] for number in range(15_000)]
    columns = [InputColumn(name=name, type="number") for name in ("n", "m")]
    found = check_table(table(columns, rows, policy=HitPolicy.COLLECT))
    assert [(defect.kind, defect.columns) for defect in found] == [
        (DefectKind.NOT_CHECKED, ("n",)),
    ]
    assert "too many values" in found[0].message


def test_the_search_pays_for_the_length_of_the_sets_that_it_compares() -> None:
    def covered(scale: int) -> Sides | None:
        left, right = (1 << scale) - 1, (1 << 2 * scale) - (1 << scale)
        return uncovered((left | right,), [(left,), (right,)], Budget(20))

    assert covered(8) is None
    with pytest.raises(GaveUp):
        covered(200_000)


def test_eight_hundred_rows_under_one_that_wins_are_all_told() -> None:
    """Each costs a comparison with each that it meets: the budget lasts for so many."""
    ranked = OutputColumn(name="out", type="string", allowed='"high", "low"')
    rows = [[f"< {number}"] for number in range(800)]
    made = table(
        [InputColumn(name="n", type="number")],
        [*rows, ["-"]],
        policy=HitPolicy.PRIORITY,
        outputs=[*['"low"'] * len(rows), '"high"'],
        output=ranked,
    )
    kinds = Counter(each.kind for each in check_table(made))
    assert kinds == {DefectKind.SUBSUMED_ROW: 800}
