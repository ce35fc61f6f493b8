"""Retracting any pieces of feedback equals a replay without them, or names a later change."""

from __future__ import annotations

import random

import pytest

from tests.support.examples import seeds
from tests.support.taught import Taught, random_ops, without


@pytest.mark.parametrize("seed", seeds(8, in_ci=1))
async def test_retracting_is_never_having_been_told(seed: int) -> None:
    rng = random.Random(seed)
    taught = Taught(rng)
    for op in random_ops(rng, 200):
        await taught.teach(op)
    assert await taught.known() == without(taught.ops, ())
    gone: set[int] = set()
    in_the_way = 0
    for number in rng.sample(range(200), 60):
        before = await taught.known()
        done = await taught.retract(number)
        if done.in_the_way:
            in_the_way += 1
            named = {stands.feedback_id for stands in done.in_the_way}
            assert named <= {f"f{later}" for later in range(number + 1, 200)}
            assert await taught.known() == before
        else:
            assert done.is_done
            gone.add(number)
            assert await taught.known() == without(taught.ops, gone)
    assert len(gone) > 20
    assert in_the_way < 30
