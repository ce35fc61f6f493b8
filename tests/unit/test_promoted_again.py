"""Promotions after the first: which state they go on from, and what is the same change again."""

from __future__ import annotations

from dataclasses import replace

from core.changes.promotion.plan import AsPublished, Standing, Step
from core.changes.promotion.taking import take
from core.changes.three_way_merge import State
from core.domain.hashing import text_hash
from core.domain.models import Agent, Kind
from core.domain.models.installed import Published
from core.testing.gate import FakeGate
from tests.support.all_kinds import Everything, note
from tests.unit.test_promoted import KRW, LINES, PLANTS, Sides, known, made, words

USD = "Amounts are in USD"


async def test_what_was_deleted_by_promotion_is_new_when_learnt_anew() -> None:
    sides = Sides(Kind.MEMORY)
    await sides.live.learn(made(KRW, "m0"))
    sides.delete = True
    assert words(await sides.promote()) == {"m0": "deleted"}
    await sides.staging.learn(made(USD, "m0"))
    assert await sides.standings() == {"m0": "new"}
    assert words(await sides.promote()) == {"m0": "created"}
    assert await known(sides.live) == {"m0": USD}


async def test_after_a_merge_it_goes_on_from_what_the_source_had_said() -> None:
    sides = Sides(Kind.MEMORY)
    await sides.both(made(LINES, "m0"))
    await sides.live.learn(note(LINES.replace("three", "last"), "m0"))
    first = LINES.replace("one", "first")
    for text in (first, first.replace("two", "second")):
        await sides.staging.learn(note(text, "m0"))
        assert await sides.standings() == {"m0": "merged"}
        assert words(await sides.promote()) == {"m0": "updated"}
    assert await known(sides.live) == {"m0": "first line\nsecond line\nlast line"}


async def test_another_source_goes_on_from_what_the_last_left() -> None:
    """The target remembers what was promoted, also where the new source never knew it."""
    sides = Sides(Kind.MEMORY)
    await sides.both(made(KRW, "m0"), made(PLANTS, "m1"), made(LINES, "m2"))
    await sides.live.learn(note("The office has cats", "m1"))
    # A merge left what no source ever said.
    await sides.staging.learn(note(LINES.replace("one", "first"), "m2"))
    await sides.live.learn(note(LINES.replace("three", "last"), "m2"))
    assert words(await sides.promote()) == {"m2": "updated"}
    sides.staging = Everything()
    await sides.staging.learn(made(USD, "m0"))
    await sides.staging.learn(made(PLANTS, "m1"))
    await sides.staging.learn(made(LINES, "m2"))
    plan = await sides.plan()
    assert {item: step.standing.value for item, step in plan.items()} == {
        "m0": "changed",
        "m1": "kept",
        "m2": "conflict",
    }
    assert plan["m2"].why.code == "promote.no_origin"  # type: ignore[attr-defined]


def published(ref: str) -> AsPublished:
    return AsPublished(Published(source="git", name="pay", digest=text_hash(ref), files={}), {})


async def keys(sides: Sides, *steps: Step, to: Agent) -> list[str]:
    """Return the keys under which the gate is asked for steps."""
    gate = FakeGate()
    promoter = await sides.promoter()
    promoter = replace(promoter, to=to, target=replace(promoter.target, gate=gate))
    _ = [done async for done in take(promoter, steps)]
    return [context.key for _, context in gate.submitted]


async def test_only_the_same_onto_the_same_is_the_same_change() -> None:
    sides, to = Sides(), Agent(id="a", tenant_id="t", name="A")
    was, now = State(KRW, "m0"), State(USD, "m0")
    step = Step(Kind.MEMORY, "m0", "m0", Standing.CHANGED, text_hash(USD), was, now)
    others = [
        replace(step, kind=Kind.DMN_RULE),
        replace(step, id="m1"),
        replace(step, source=text_hash(PLANTS)),
        replace(step, before=State(PLANTS, "m0")),
        replace(step, is_listed=True),
    ]
    skill = replace(step, kind=Kind.SKILL, is_listed=True)
    others += [skill, *(replace(skill, published=published(ref)) for ref in ("v1", "v2"))]
    (first,) = await keys(sides, step, to=to)
    assert await keys(sides, replace(step, name="x", version=9, why="why"), to=to) == [first]
    found = [first, *await keys(sides, *others, to=to)]
    for elsewhere in (to.model_copy(update={"id": "b"}), to.model_copy(update={"tenant_id": "u"})):
        found += await keys(sides, step, to=elsewhere)
    assert len({*found}) == len(others) + 3
