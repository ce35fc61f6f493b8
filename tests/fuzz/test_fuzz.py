"""A bounded run of every fuzz target, from a seed that makes it repeatable."""

from __future__ import annotations

import random
import tracemalloc
from collections.abc import Iterator

import pytest

from tests.fuzz.targets import TARGETS

ROUNDS = 3_000


@pytest.fixture(autouse=True)
def traced() -> Iterator[None]:
    tracemalloc.start()
    yield
    tracemalloc.stop()


@pytest.mark.parametrize("target", TARGETS)
def test_mutations_break_no_promise(target: str) -> None:
    taken = sum(TARGETS[target](random.Random(f"{target}:{at}")) for at in range(ROUNDS))
    assert ROUNDS // 20 < taken < ROUNDS
