"""An edit rebased onto another sequence does exactly what it did, or clashes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.changes.three_way_merge import Clash, rebase


@pytest.mark.parametrize(
    ("base", "edited", "onto", "made"),
    [
        ("A", "AB", "", "B"),
        ("AF", "AFL", "A", "AL"),
        ("AFB", "AFLB", "AB", "ALB"),
        ("AFB", "AB", "AB", "AB"),
        ("AQB", "AQLB", "APB", "APLB"),
        ("AQB", "ALQB", "APB", "ALPB"),
        ("AQB", "APB", "APB", "APB"),
        ("AB", "AXB", "AFB", "AFXB"),
        ("AB", "CB", "AFB", "CFB"),
        ("ABCD", "ABXD", "ABFCD", "ABFXD"),
        ("AFG", "AG", "A", "A"),
    ],
)
def test_what_fits_is_done_where_it_stood(base: str, edited: str, onto: str, made: str) -> None:
    assert "".join(rebase(base, edited, onto)) == made


@pytest.mark.parametrize(
    ("base", "edited", "onto"),
    [("AQB", "AB", "APB"), ("AQB", "AXB", "APB"), ("ABC", "C", "AFBC"), ("AFGB", "AFLGB", "AB")],
)
def test_what_rewrites_what_is_not_there_clashes(base: str, edited: str, onto: str) -> None:
    with pytest.raises(Clash):
        rebase(base, edited, onto)


LINES = st.integers(0, 8).map(lambda n: [f"l{i}" for i in range(n)])
EDITS = st.lists(st.tuples(st.sampled_from("idr"), st.integers(0, 8)), min_size=1, max_size=3)


def _edited(lines: list[str], edits: list[tuple[str, int]], mark: str) -> list[str]:
    made = list(lines)
    for number, (what, place) in enumerate(edits):
        at = min(place, len(made) - 1)
        if what == "i" or not made:
            made.insert(min(place, len(made)), f"{mark}{number}")
        elif what == "d":
            made.pop(at)
        else:
            made[at] = f"{mark}r{number}"
    return made


@given(LINES, EDITS, EDITS)
def test_without_the_first_edit_the_second_is_whole_and_alone(
    base: list[str], first: list[tuple[str, int]], second: list[tuple[str, int]]
) -> None:
    one = _edited(base, first, "F")
    two = _edited(one, second, "L")
    try:
        made = rebase(one, two, base)
    except Clash:
        return
    assert [line for line in made if line.startswith("L")] == [
        line for line in two if line.startswith("L")
    ]
    kept = {line for line in base if line in two or line not in one}
    assert {line for line in made if not line.startswith("L")} == kept
