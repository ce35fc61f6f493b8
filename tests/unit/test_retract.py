"""What one piece of feedback taught is retracted, and later changes stay."""

from __future__ import annotations

import pytest

from core.changes.policy.review_policy import ReviewPolicy, load_policy
from core.changes.retraction.retract import Retraction, Retractor, Standpoint
from core.domain.errors import InvalidInput, NotFound
from core.domain.models import Change, Edited, Feedback, FeedbackStatus, Kind, ReceiptStatus
from tests.support.gate import World, ask, on_behalf


def feedback(feedback_id: str, status: FeedbackStatus = FeedbackStatus.COMPLETED) -> Feedback:
    return Feedback(
        id=feedback_id,
        source="inbox",
        source_id=feedback_id,
        tenant_id="t",
        agent_ids=("a",),
        content="…",
        status=status,
    )


def retractor(world: World) -> Retractor:
    return Retractor(
        gate=world.gate,
        changes=world.log,
        steps=world.steps,
        duplicate_waiters=world.duplicate_waiters,
    )


class Told:
    """A world taught by pieces of feedback."""

    def __init__(self, world: World) -> None:
        self.world = world
        self._count = 0

    async def teach(self, feedback_id: str, content: str = "", **given: object) -> str:
        self._count += 1
        context = on_behalf(f"k{self._count}").model_copy(update={"feedback_id": feedback_id})
        given = {"relationship": "UNRELATED", "reason": "m", **given}
        receipt = await self.world.gate.submit(ask(content, **given), context)
        assert receipt.status.is_outcome, receipt
        return receipt.target_id or ""

    async def add(self, feedback_id: str, item: str, content: str, mode: str = "EXTEND") -> None:
        given = {"operation": "UPDATE", "target_id": item, "merge_mode": mode}
        await self.teach(feedback_id, content, **given)

    async def retract(self, feedback_id: str) -> Retraction:
        return await retractor(self.world).retract(feedback(feedback_id), by="kim")

    async def contents(self) -> list[str]:
        items = await self.world.knowledge.list(tenant_id="t", agent_id="a", kind=Kind.MEMORY)
        return sorted(item.content for item in items)


@pytest.fixture
def told() -> Told:
    return Told(World())


async def test_what_it_made_goes(told: Told) -> None:
    await told.teach("f1", "환불은 7일 이내")
    await told.teach("f2", "회의록은 노션에 올린다")
    assert (await told.retract("f1")).is_done
    assert await told.contents() == ["회의록은 노션에 올린다"]


async def test_what_was_added_later_stays(told: Told) -> None:
    item = await told.teach("f0", "환불은 7일 이내")
    await told.add("f1", item, "영수증이 있어야 한다")
    await told.add("f2", item, "배송비는 고객이 낸다")
    done = await told.retract("f1")
    assert done.is_done
    assert await told.contents() == ["환불은 7일 이내\n배송비는 고객이 낸다"]


async def test_what_was_added_to_an_item_that_goes_stays_alone(told: Told) -> None:
    item = await told.teach("f1", "환불은 7일 이내")
    await told.add("f2", item, "배송비는 고객이 낸다")
    assert (await told.retract("f1")).is_done
    assert await told.contents() == ["배송비는 고객이 낸다"]


async def test_what_superseded_it_stays(told: Told) -> None:
    item = await told.teach("f1", "환불은 7일 이내")
    await told.add("f2", item, "환불은 14일 이내", mode="REPLACE")
    assert (await told.retract("f1")).is_done
    assert await told.contents() == ["환불은 14일 이내"]


async def test_what_it_superseded_comes_back(told: Told) -> None:
    item = await told.teach("f0", "환불은 7일 이내")
    await told.add("f1", item, "환불은 14일 이내", mode="REPLACE")
    await told.add("f2", item, "배송비는 고객이 낸다")
    assert (await told.retract("f1")).is_done
    assert await told.contents() == ["환불은 7일 이내\n배송비는 고객이 낸다"]


async def test_what_it_deleted_comes_back(told: Told) -> None:
    item = await told.teach("f0", "환불은 7일 이내")
    await told.teach("f1", operation="DELETE", target_id=item)
    assert await told.contents() == []
    assert (await told.retract("f1")).is_done
    assert await told.contents() == ["환불은 7일 이내"]


async def test_a_later_change_of_what_it_wrote_is_named_and_nothing_is_done(told: Told) -> None:
    item = await told.teach("f0", "환불은 7일 이내")
    await told.teach("f1", "결제는 카드로만 받는다")
    await told.add("f1", item, "영수증이 있어야 한다")
    await told.teach(
        "f2",
        "영수증이나 주문 번호가",
        operation="UPDATE",
        target_id=item,
        merge_mode="REFINE",
        part="영수증이",
    )
    before = await told.contents()
    done = await told.retract("f1")
    assert not done.is_done
    (stands,) = done.in_the_way
    (later,) = await told.world.steps.of_feedback("f2")
    assert stands == Standpoint(
        change_id=later.id,
        feedback_id="f2",
        kind=Kind.MEMORY,
        target_id=item,
        target_name=later.target_name,
        why="it rewrites what is taken back",
    )
    assert await told.contents() == before


async def test_doing_it_twice_changes_nothing_more(told: Told) -> None:
    item = await told.teach("f0", "환불은 7일 이내")
    await told.add("f1", item, "영수증이 있어야 한다")
    await told.retract("f1")
    await told.add("f2", item, "배송비는 고객이 낸다")
    with pytest.raises(NotFound, match="has changed nothing"):
        await told.retract("f1")
    await told.retract("f2")
    assert await told.contents() == ["환불은 7일 이내"]


async def test_pieces_are_taken_back_in_any_order(told: Told) -> None:
    item = await told.teach("f0", "하나")
    for number, line in enumerate(("둘", "셋", "넷"), start=1):
        await told.add(f"f{number}", item, line)
    for feedback_id in ("f2", "f0", "f3"):
        assert (await told.retract(feedback_id)).is_done
    assert await told.contents() == ["둘"]


async def test_what_came_back_is_taken_back_again(told: Told) -> None:
    item = await told.teach("f0", "환불은 7일 이내")
    await told.add("f1", item, "영수증이 있어야 한다")
    for _ in range(3):
        done = await told.retract("f1")
        assert await told.contents() == ["환불은 7일 이내"]
        (effect,) = done.effects
        assert effect.receipt is not None
        await told.world.gate.revert(effect.receipt.change_id or "", "back")
        assert await told.contents() == ["환불은 7일 이내\n영수증이 있어야 한다"]
    await told.add("f2", item, "배송비는 고객이 낸다", mode="REPLACE")
    assert (await told.retract("f1")).is_done
    assert (await told.retract("f2")).is_done
    assert await told.contents() == ["환불은 7일 이내"]


async def test_a_retraction_that_a_person_rejected_can_be_asked_for_again() -> None:
    world = World()
    told = Told(world)
    await told.teach("f1", "환불은 7일 이내")
    held = World(policy=ReviewPolicy(otherwise="hold"), knowledge=world.knowledge)
    held.use(world)
    told.world = held
    first, second = [await _held_retraction(told) for _ in range(2)]
    assert first.id == second.id
    await held.gate.decisions.reject(first.id, by="kim", reason="not yet")
    third = await _held_retraction(told)
    assert third.id != first.id
    await held.gate.decisions.approve(third.id, by="kim")
    assert await told.contents() == []


async def _held_retraction(told: Told) -> Change:
    (effect,) = (await told.retract("f1")).effects
    assert effect.receipt is not None
    assert effect.receipt.status is ReceiptStatus.HELD
    return await told.world.log.get(effect.receipt.change_id or "")


async def test_what_another_piece_said_again_stays(told: Told) -> None:
    await told.teach("f1", "환불은 7일 이내", relationship=None)
    again = on_behalf("again").model_copy(update={"feedback_id": "f2"})
    receipt = await told.world.gate.submit(ask("환불은 7일 이내"), again)
    assert receipt.status is ReceiptStatus.KNOWN
    done = await told.retract("f1")
    assert done.effects[0].said_too == ("f2",)
    assert await told.contents() == ["환불은 7일 이내"]


async def test_what_was_said_again_of_another_piece_is_not_its_own(told: Told) -> None:
    item = await told.teach("f0", "환불은 7일 이내", relationship=None)
    again = on_behalf("again").model_copy(update={"feedback_id": "f2"})
    await told.world.gate.submit(ask("환불은 7일 이내"), again)
    await told.add("f1", item, "영수증이 있어야 한다")
    done = await told.retract("f1")
    assert [effect.said_too for effect in done.effects] == [()]
    assert await told.contents() == ["환불은 7일 이내"]


async def test_who_said_a_part_again_keeps_no_other_part(told: Told) -> None:
    item = await told.teach("f0", "환불은 7일 이내")
    await told.add("f1", item, "영수증이 있어야 한다")
    await told.add("f2", item, "환불은 7일 이내")
    assert (await told.retract("f1")).is_done
    assert await told.contents() == ["환불은 7일 이내"]


async def test_a_dry_run_tells_what_would_be_forgotten_and_forgets_nothing(told: Told) -> None:
    item = await told.teach("f1", "환불은 7일 이내", relationship=None)
    again = on_behalf("again").model_copy(update={"feedback_id": "f2"})
    await told.world.gate.submit(ask("환불은 7일 이내"), again)
    dry = World(dry_run=True, knowledge=told.world.knowledge)
    dry.use(told.world)
    for world in (dry, dry, told.world):
        done = await retractor(world).retract(feedback("f2"), by="kim")
        assert [(waiter.kind, waiter.target_id) for waiter in done.unsaid] == [(Kind.MEMORY, item)]
    with pytest.raises(NotFound, match="has changed nothing"):
        await told.retract("f2")


async def test_what_all_who_said_it_take_back_is_gone(told: Told) -> None:
    await told.teach("f1", "환불은 7일 이내", relationship=None)
    again = on_behalf("again").model_copy(update={"feedback_id": "f2"})
    await told.world.gate.submit(ask("환불은 7일 이내"), again)
    assert (await told.retract("f2")).is_done
    assert (await told.retract("f1")).is_done
    assert await told.contents() == []


async def test_what_waits_is_rejected_with_it() -> None:
    world = World(policy=load_policy("all"))
    receipt = await world.gate.submit(ask(), on_behalf("k"))
    done = await Told(world).retract("f")
    assert done.rejected == (receipt.change_id,)


@pytest.mark.parametrize("status", [FeedbackStatus.QUEUED, FeedbackStatus.PROCESSING])
async def test_what_is_worked_on_is_not_taken_back(told: Told, status: FeedbackStatus) -> None:
    with pytest.raises(InvalidInput, match="teach something yet"):
        await retractor(told.world).retract(feedback("f1", status), by="kim")


async def test_what_taught_nothing_is_told(told: Told) -> None:
    with pytest.raises(NotFound, match="has changed nothing"):
        await told.retract("f9")


async def test_what_two_pieces_ask_for_waits_once_and_stays_while_one_says_it() -> None:
    world = World(policy=load_policy("all"))
    told = Told(world)
    first, second = [
        await world.gate.submit(ask(), on_behalf(f).model_copy(update={"feedback_id": f}))
        for f in ("f1", "f2")
    ]
    assert (second.status, second.change_id) == (ReceiptStatus.HELD, first.change_id)
    assert "already asked for" in second.message
    done = await told.retract("f1")
    assert done.rejected == ()
    assert [(e.change_id, e.said_too) for e in done.effects] == [(first.change_id, ("f2",))]
    await world.gate.decisions.edit(first.change_id or "", Edited(content="달러로"), by="kim")
    await world.gate.decisions.approve(first.change_id or "", by="kim")
    assert (await told.retract("f1")).effects[0].said_too == ("f2",)
    assert await told.contents() == ["달러로"]
    assert (await told.retract("f2")).is_done
    assert (await told.retract("f1")).is_done
    assert await told.contents() == []


async def test_what_is_asked_for_once_more_after_a_rejection_waits_anew() -> None:
    world = World(policy=load_policy("all"))
    first = await world.gate.submit(ask(), on_behalf("k1"))
    await world.gate.decisions.reject(first.change_id or "", by="kim", reason="no")
    second = await world.gate.submit(ask(), on_behalf("k2"))
    assert second.status is ReceiptStatus.HELD
    assert second.change_id != first.change_id
