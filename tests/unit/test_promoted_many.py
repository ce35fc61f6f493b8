"""Many items are promoted at once: which are compared with what is known, and which are refused."""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.changes.promotion.taking import take
from core.domain.models import Kind
from core.testing.gate import FakeGate
from tests.support.all_kinds import note
from tests.unit.test_promoted import Sides, made, words

DESKS = {f"m{n:02}": f"Desk {n} keeps its ledger in room {n}" for n in range(16)}


async def test_of_many_changed_memories_one_said_already_is_refused() -> None:
    sides = Sides(Kind.MEMORY)
    await sides.both(*(made(text, item) for item, text in DESKS.items()))
    for item, text in DESKS.items():
        await sides.staging.learn(note(f"{text} and its keys", item))
    await sides.live.learn(made(f"{DESKS['m07']} and its keys", "k"))
    done = words(await sides.promote())
    assert done.pop("m07") == "refused"
    assert set(done.values()) == {"updated"}


@pytest.mark.parametrize(("many", "is_all"), [(16, True), (15, False)])
async def test_many_new_memories_stand_beside_all_that_is_known(many: int, is_all: bool) -> None:
    """All is read once for them then, and no search is made for each; a few are searched for."""
    sides, gate = Sides(Kind.MEMORY), FakeGate()
    for item, text in [*DESKS.items()][:many]:
        await sides.staging.learn(made(text, item))
    await sides.live.learn(made("Desk 99 keeps its ledger in room 99", "known"))
    promoter = await sides.promoter()
    promoter = replace(promoter, target=replace(promoter.target, gate=gate))
    done = [step.id async for step, _ in take(promoter, await promoter.plan()) if step.writes]
    assert len(done) == many
    compared = [context.compared for _, context in gate.submitted]
    assert [one.is_all for one in compared if one is not None] == [is_all] * many
    assert {"known" in {item.id for item in one.items} for one in compared if one} == {is_all}
