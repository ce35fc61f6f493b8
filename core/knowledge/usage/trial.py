"""Whether tasks end better with an item: Fisher's exact test."""

from __future__ import annotations

from math import exp, lgamma

from core.domain.models.effect import Basis, Ended, Judgement, Trial

LEAST = 5  # tasks a side, below which nothing is said
LEVEL = 0.05
_TIES = 1 + 1e-7  # tables as likely as the one that was seen, but for rounding


def fisher(given: Ended, without: Ended) -> float:
    """Return the p-value of Fisher's exact test, two-sided, as R's `fisher.test` defines it.

    It is the chance of a table that is at most as likely as this one, all sums being as they are.
    """
    rows, succeeded = (given.total, without.total), given.success + without.success
    lowest, highest = max(0, succeeded - rows[1]), min(rows[0], succeeded)
    everything = _log_choose(sum(rows), succeeded)
    chances = [
        exp(_log_choose(rows[0], n) + _log_choose(rows[1], succeeded - n) - everything)
        for n in range(lowest, highest + 1)
    ]
    seen = chances[given.success - lowest] * _TIES
    return min(1.0, sum(chance for chance in chances if chance <= seen))


def _log_choose(n: int, k: int) -> float:
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)


def judged(basis: Basis, given: Ended, without: Ended) -> Trial:
    """Judge by how tasks ended with an item and without it."""
    if min(given.total, without.total) < LEAST:
        p, judgement = None, Judgement.UNDECIDED
    else:
        p = fisher(given, without)
        is_better = given.success * without.total > without.success * given.total
        decided = Judgement.HELPS if is_better else Judgement.HARMS
        judgement = decided if p < LEVEL else Judgement.UNDECIDED
    return Trial(basis=basis, judgement=judgement, p=p, given=given, without=without)


def best_trial(arms: tuple[Ended, Ended], observed: tuple[Ended, Ended]) -> Trial:
    """Judge by the holdout where there was one, else by what happened to differ."""
    has_arms = any(arm.total for arm in arms)
    basis = Basis.HOLDOUT if has_arms else Basis.OBSERVED
    return judged(basis, *(arms if has_arms else observed))
