"""How many examples a property is tried with: few in each run, many in that of the night."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import pytest
from _pytest.mark import ParameterSet
from hypothesis import settings

IN_CI = 30
AT_NIGHT = 300


def register_profiles() -> None:
    """Register `ci` and `nightly` (`--hypothesis-profile`), and load the first."""
    # How long an example takes is the machine's business: what must be fast is measured elsewhere.
    # Each run tries the same examples, so that a change fails for what it changed; the night looks
    # for others.
    settings.register_profile(
        "ci", max_examples=IN_CI, deadline=None, derandomize=True, database=None
    )
    settings.register_profile("nightly", max_examples=AT_NIGHT, deadline=None)
    settings.load_profile("ci")


def seeds(count: int, in_ci: int) -> Sequence[object]:
    """Return the seeds of a test that costs seconds: the first for each run, all at night."""
    return [*range(in_ci), *at_night(*range(in_ci, count))]


def at_night(*values: object) -> Sequence[ParameterSet]:
    """Return the values as parameters that only the run of the night tries."""
    return [pytest.param(value, marks=pytest.mark.nightly) for value in values]


def crossed(first: Sequence[object], *others: Sequence[object]) -> Sequence[ParameterSet]:
    """Return all combinations for the night; each run tries each value at least once.

    `first` is the longest; each of the others needs twice as many turns as the one before it.
    """
    tried = [
        (value, *(other[(turn >> place) % len(other)] for place, other in enumerate(others)))
        for turn, value in enumerate(first)
    ]
    return [
        pytest.param(*values, marks=() if values in tried else pytest.mark.nightly)
        for values in product(first, *others)
    ]
