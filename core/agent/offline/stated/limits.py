"""Limits of one quantity: what lies beside them, and whether they leave nothing out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from itertools import pairwise

from core.agent.offline.stated.statement import (
    Case,
    Condition,
    Ends,
    NotARule,
    beyond,
    ends_of,
    in_unit,
    is_convertible,
    size,
    smaller,
)

RANKS = frozenset(["점", "등급", "단계", "학년", "급"])


def complement(only: Sequence[Condition]) -> Condition | None:
    """Return what lies beside intervals that all reach up, or all reach down."""
    spans = [ends for one in only if (ends := ends_of(one.test)) is not None]
    if len(spans) < len(only):
        return None
    for way, taken in (("down", [one.high for one in spans]), ("up", [one.low for one in spans])):
        if any(limit is None for limit in taken) and _is_gapless(spans):
            return beyond(only, way)
    return None


def meet(only: Sequence[Condition]) -> bool:
    """Whether limits are of one unit, and each begins where another ends."""
    if any(not is_convertible(one.unit, other.unit) for one in only for other in only):
        return False
    if len({one.kind for one in only}) > 1:
        return False
    unit = smaller([one.unit for one in only])
    spans = [ends_of(in_unit(one, unit).test) for one in only]
    known = sorted(
        (one for one in spans if one is not None),
        key=lambda one: (one.low is not None, size(one.low or "0")),
    )
    if len(known) < len(only) or len(set(known)) < len(known):
        return False
    return all(
        one.high is not None
        and after.low is not None
        and Decimal(0) <= size(after.low)[0] - size(one.high)[0] <= 1
        and (one.high[0].isdigit() or one.high[0] == "-" or one.high == after.low)
        for one, after in pairwise(known)
    )


def _is_gapless(spans: Sequence[Ends]) -> bool:
    """Whether intervals, in order, leave nothing out between them."""
    by_low = sorted(spans, key=lambda one: (one.low is not None, size(one.low or "0")))
    for one, after in pairwise(by_low):
        if one.high is None:
            return True
        low, high = size(after.low or "0"), size(one.high)
        if after.low is not None and (low > high or (low == high and not _meets(one, after))):
            return False
    return True


def _meets(one: Ends, after: Ends) -> bool:
    return one.high_in or after.low_in


def check_equal(cases: Sequence[Case]) -> None:
    """Raise NotARule for amounts that are only equalled: `4개월이면` may be from then on."""
    ordered = [one for case in cases for one in case.when if one.kind == "number"]
    equal = [one for one in ordered if re.fullmatch(r"-?[\d.]+", one.test)]
    if not equal or all(one.unit in RANKS for one in equal):
        return
    if len(equal) == len(ordered):
        raise NotARule("amounts that may be limits")
    for column in {one.column for one in equal}:
        limits = [one for one in ordered if one.column == column]
        if len(set(limits)) == len(limits) and not meet(limits):
            raise NotARule("an amount, and a gap before the next limit")
        known = [ends for one in limits if (ends := ends_of(one.test)) is not None]
        last = max(known, key=lambda one: size(one.low or "-1"))
        if last.low == last.high:
            raise NotARule("an amount that may be a limit")
