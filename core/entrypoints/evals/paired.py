"""Which of two variants decides better, from the cases where they differ (pure)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from math import comb

from core.domain.models.base import Model

ALPHA = 0.05
UNDECIDED = "undecided"


class Pair(Model):
    """One case, decided by both: whether each did well. Cases of one `author` are one cluster."""

    id: str
    author: str = ""
    first: bool
    second: bool


class Paired(Model):
    """Two variants on the same cases.

    `p_value` is of the exact sign test over clusters (McNemar's, where each case is its own
    cluster): a cluster counts for the variant that did well in more of the cases where they differ.
    `better` is `first`, `second` or `undecided`.
    """

    cases: int
    both: int
    neither: int
    only_first: int
    only_second: int
    clusters: int
    clusters_for_first: int
    clusters_for_second: int
    p_value: float
    better: str


def compare(pairs: Mapping[str, Pair]) -> Paired:
    """Compare two variants; pairs are by id of the case."""
    score: dict[str, int] = defaultdict(int)
    for pair in pairs.values():
        score[pair.author or f"\x00{pair.id}"] += int(pair.first) - int(pair.second)
    won = sum(one > 0 for one in score.values())
    lost = sum(one < 0 for one in score.values())
    p_value = sign_test(won, lost)
    better = "first" if won > lost else "second"
    sides = [(pair.first, pair.second) for pair in pairs.values()]
    return Paired(
        cases=len(pairs),
        both=sides.count((True, True)),
        neither=sides.count((False, False)),
        only_first=sides.count((True, False)),
        only_second=sides.count((False, True)),
        clusters=len(score),
        clusters_for_first=won,
        clusters_for_second=lost,
        p_value=p_value,
        better=better if p_value < ALPHA else UNDECIDED,
    )


def sign_test(won: int, lost: int) -> float:
    """Return the two-sided p-value of the exact sign test, 1 where nothing differs.

    Under the hypothesis that both are equally good, each side wins with probability one half.
    """
    number, less = won + lost, min(won, lost)
    tail = sum(comb(number, count) for count in range(less + 1))
    return float(min(1.0, 2 * tail / 2**number)) if number else 1.0
