"""Of a memory, what was said later stands; also among changes that wait for a person."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from core.changes.policy.review_policy import load_policy
from core.domain.models import (
    Edited,
    Kind,
    Receipt,
    ReceiptStatus,
    RunEvent,
)
from tests.support.gate import World, ask, on_behalf

NINE = datetime(2026, 1, 5, 9, tzinfo=UTC)


async def said(world: World, hour: int, content: str, **given: object) -> Receipt:
    """Submit what was said at an hour; pieces come in one after another."""
    context = on_behalf(f"k{hour}").model_copy(
        update={
            "feedback_id": f"f{hour}",
            "said_at": NINE + timedelta(hours=hour),
            "heard_at": NINE + timedelta(days=1, minutes=len(world.log.changes)),
        }
    )
    return await world.gate.submit(ask(content, reason="r", **given), context)


async def update(world: World, hour: int, content: str, mode: str = "", **given: object) -> Receipt:
    return await said(
        world,
        hour,
        content,
        operation="UPDATE",
        target_id=await only(world),
        merge_mode=mode or None,
        **given,
    )


async def only(world: World) -> str:
    (item,) = await world.knowledge.list(tenant_id="t", agent_id=None, kind=Kind.MEMORY)
    return item.id


async def text(world: World) -> str:
    return (await world.knowledge.get(Kind.MEMORY, "t", await only(world))).content


async def test_an_earlier_word_replaces_no_later_one() -> None:
    world = World()
    await said(world, 1, "보고서는 PDF로 낸다")
    await update(world, 9, "보고서는 엑셀로 낸다")
    late = await update(world, 5, "보고서는 워드로 낸다")
    assert late.status is ReceiptStatus.OVERTAKEN
    assert "f9" in late.message
    assert await text(world) == "보고서는 엑셀로 낸다"
    event: RunEvent = world.events[-1]
    assert (event.name, event.data["by"]) == ("change.overtaken", "f9")


async def test_what_it_adds_is_learnt_and_stands_before_what_was_added_later() -> None:
    world = World()
    await said(world, 1, "보고서는 PDF로 낸다")
    await update(world, 9, "표지를 붙인다", "EXTEND")
    late = await update(world, 5, "쪽 번호를 적는다", "EXTEND")
    assert late.status is ReceiptStatus.APPLIED
    assert late.warnings == ()
    assert await text(world) == "보고서는 PDF로 낸다\n쪽 번호를 적는다\n표지를 붙인다"


async def test_what_was_only_added_later_stays_beside_an_earlier_rewriting() -> None:
    world = World()
    await said(world, 1, "보고서는 PDF로 낸다")
    await update(world, 9, "표지를 붙인다", "EXTEND")
    late = await update(world, 5, "보고서는 워드로 낸다", "REPLACE")
    assert late.status is ReceiptStatus.APPLIED
    assert await text(world) == "보고서는 워드로 낸다\n표지를 붙인다"


async def test_a_part_refined_later_stands_and_an_addition_is_learnt() -> None:
    world = World()
    await said(world, 1, "보고서는 PDF로 낸다")
    await update(world, 9, "컬러 PDF", "REFINE", part="PDF")
    assert (await update(world, 5, "흑백 PDF", "REFINE", part="컬러 PDF")).status is (
        ReceiptStatus.OVERTAKEN
    )
    late = await update(world, 6, "표지를 붙인다", "EXTEND")
    assert late.status is ReceiptStatus.APPLIED
    assert await text(world) == "보고서는 컬러 PDF로 낸다\n표지를 붙인다"


async def test_an_earlier_deletion_takes_no_later_word() -> None:
    world = World()
    await said(world, 1, "보고서는 PDF로 낸다")
    await update(world, 9, "표지를 붙인다", "EXTEND")
    late = await said(world, 5, "", operation="DELETE", target_id=await only(world))
    assert late.status is ReceiptStatus.APPLIED
    assert await text(world) == "표지를 붙인다"
    gone = await said(world, 10, "", operation="DELETE", target_id=await only(world))
    assert gone.status is ReceiptStatus.APPLIED


async def test_said_at_once_the_one_that_came_in_last_stands() -> None:
    world = World()
    await said(world, 1, "보고서는 PDF로 낸다")
    await update(world, 5, "보고서는 엑셀로 낸다")
    context = on_behalf("again").model_copy(
        update={
            "feedback_id": "other",
            "said_at": NINE + timedelta(hours=5),
            "heard_at": NINE + timedelta(days=2),
        }
    )
    request = ask("보고서는 워드로 낸다", operation="UPDATE", target_id=await only(world))
    assert (await world.gate.submit(request, context)).status is ReceiptStatus.APPLIED
    assert await text(world) == "보고서는 워드로 낸다"


async def test_a_dry_run_tells_what_was_overtaken_and_records_nothing() -> None:
    world = World()
    await said(world, 1, "보고서는 PDF로 낸다")
    await update(world, 9, "보고서는 엑셀로 낸다")
    dry = World(dry_run=True, knowledge=world.knowledge)
    dry.use(world)
    events = len(dry.events)
    late = await update(dry, 5, "보고서는 워드로 낸다")
    assert late.status is ReceiptStatus.OVERTAKEN
    assert len(dry.events) == events


@pytest.fixture
async def waiting() -> World:
    """A world in which an earlier and a later word about one memory both wait for a person."""
    first = World()
    await said(first, 1, "보고서는 PDF로 낸다")
    world = World(policy=load_policy("all"), knowledge=first.knowledge)
    world.use(first)
    assert (await update(world, 9, "보고서는 엑셀로 낸다")).status is ReceiptStatus.HELD
    assert (await update(world, 5, "보고서는 워드로 낸다")).status is ReceiptStatus.HELD
    return world


def held(world: World, feedback_id: str) -> str:
    return next(c.id for c in world.log.changes.values() if c.feedback_id == feedback_id)


async def test_what_a_later_word_overtook_is_a_choice(waiting: World) -> None:
    decisions = waiting.gate.decisions
    await decisions.approve(held(waiting, "f9"), by="kim")
    early = waiting.log.changes[held(waiting, "f5")]
    assert early.contradicts == held(waiting, "f9")
    assert "f9, said later" in early.warnings[-1]
    await decisions.reject(early.id, by="kim", reason="overtaken")
    assert await text(waiting) == "보고서는 엑셀로 낸다"


async def test_the_later_word_is_approved_after_the_earlier_one_too(waiting: World) -> None:
    decisions = waiting.gate.decisions
    await decisions.approve(held(waiting, "f5"), by="kim")
    late = waiting.log.changes[held(waiting, "f9")]
    await decisions.approve(late.id, by="kim", seen=late.content_hash)
    assert await text(waiting) == "보고서는 엑셀로 낸다"


async def test_what_a_person_edits_is_said_when_it_is_edited(waiting: World) -> None:
    decisions = waiting.gate.decisions
    early = held(waiting, "f5")
    edited = await decisions.edit(early, Edited(content="보고서는 한글로 낸다"), by="kim")
    assert edited.said_at is not None
    assert edited.said_at > NINE + timedelta(hours=9)
    assert edited.heard_at == edited.said_at
    await decisions.approve(early, by="kim")
    assert waiting.log.changes[held(waiting, "f9")].contradicts == early
    assert await text(waiting) == "보고서는 한글로 낸다"
