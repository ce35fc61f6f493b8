"""Whether an item helps is decided by Fisher's exact test, and who does without it by lot."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import pytest

from core.domain.models.effect import Basis, Ended, Judgement
from core.knowledge.usage.trial import fisher, judged

# As R's fisher.test gives them: the tea of R. A. Fisher, the twins of his convictions, and two of
# scipy's documentation.
KNOWN = {
    (3, 1, 1, 3): 0.4857142857,
    (10, 2, 3, 15): 0.0005367241,
    (6, 2, 1, 4): 0.1025641026,
    (8, 2, 1, 5): 0.0349650350,
    (5, 0, 0, 5): 0.0079365079,
    (0, 5, 0, 5): 1.0,
}


def ended(success: int, failure: int) -> Ended:
    return Ended(success=success, failure=failure)


@pytest.mark.parametrize("table", KNOWN)
def test_known_tables_have_the_p_of_others(table: tuple[int, int, int, int]) -> None:
    a, b, c, d = table
    assert fisher(ended(a, b), ended(c, d)) == pytest.approx(KNOWN[table], abs=1e-9)


def test_every_small_table_has_the_p_of_counting() -> None:
    for a, b, c, d in (
        (a, b, c, d) for a in range(6) for b in range(6) for c in range(5) for d in (1, 4)
    ):
        ways = [
            comb(a + b, n) * comb(c + d, a + c - n)
            for n in range(a + c + 1)
            if n <= a + b and a + c - n <= c + d
        ]
        seen = comb(a + b, a) * comb(c + d, c)
        exact = Fraction(sum(way for way in ways if way <= seen), sum(ways))
        assert fisher(ended(a, b), ended(c, d)) == pytest.approx(float(exact), abs=1e-9)


def test_thousands_of_tasks_are_judged_too() -> None:
    trial = judged(Basis.OBSERVED, ended(5_300, 4_700), ended(4_700, 5_300))
    assert trial.judgement is Judgement.HELPS
    assert trial.p is not None
    assert 0 < trial.p < 1e-10


@pytest.mark.parametrize(
    ("given", "without", "judgement", "is_tested"),
    [
        ((4, 0), (0, 400), Judgement.UNDECIDED, False),  # four a side say nothing
        ((5, 0), (0, 5), Judgement.HELPS, True),
        ((0, 5), (5, 0), Judgement.HARMS, True),
        ((4, 1), (1, 4), Judgement.UNDECIDED, True),
        ((0, 0), (0, 0), Judgement.UNDECIDED, False),
    ],
)
def test_it_is_undecided_until_it_is_not(
    given: tuple[int, int], without: tuple[int, int], judgement: Judgement, *, is_tested: bool
) -> None:
    trial = judged(Basis.HOLDOUT, ended(*given), ended(*without))
    assert trial.judgement is judgement
    assert (trial.p is not None) is is_tested
