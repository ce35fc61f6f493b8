"""Held changes: exactly what the reviewer saw is applied, or nothing."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

import pytest

from core.changes.policy.review_policy import ReviewPolicy, load_policy, parse_policy
from core.domain.errors import Decided, DependencyDown, InvalidInput, NotFound, Refused, Stale
from core.domain.hashing import state_hash
from core.domain.models import (
    Change,
    ChangeStatus,
    Edited,
    Kind,
    Operation,
    Reach,
    Receipt,
    ReceiptStatus,
    Scope,
    SkillFile,
)
from tests.support.gate import World, ask, on_behalf

ALL = load_policy("all")


@pytest.fixture
def world() -> World:
    return World(policy=ALL)


async def held(world: World, content: str = "원화로 적는다", key: str = "k1") -> Change:
    receipt = await world.gate.submit(ask(content), on_behalf(key))
    assert receipt.status is ReceiptStatus.HELD
    assert receipt.change_id is not None
    return await world.log.get(receipt.change_id)


async def contents(world: World) -> list[str]:
    items = await world.knowledge.list(tenant_id="t", agent_id="a", kind=Kind.MEMORY)
    return [item.content for item in items]


def names(world: World) -> list[str]:
    return [event.name for event in world.log.events]


async def test_what_waits_changes_nothing_and_says_why(world: World) -> None:
    receipt = await world.gate.submit(ask(), on_behalf())
    assert receipt.status is ReceiptStatus.HELD
    assert "every change is reviewed" in receipt.message
    assert await contents(world) == []
    assert world.history() == []
    assert names(world) == ["change.held"]


async def test_what_was_looked_at_is_what_is_applied(world: World) -> None:
    change = await held(world)
    receipt = await world.gate.decisions.approve(change.id, by="kim", seen=change.content_hash)
    assert receipt.status is ReceiptStatus.APPLIED
    (item,) = await world.knowledge.list(tenant_id="t", agent_id="a", kind=Kind.MEMORY)
    now = await world.committer.current("t", item.id)
    assert state_hash(now) == state_hash(change.after)
    assert (await world.log.get(change.id)).decided_by == "kim"
    assert names(world) == ["change.held", "change.approved", "change.applied"]


async def test_the_same_key_gives_the_same_receipt_while_it_waits(world: World) -> None:
    first = await world.gate.submit(ask(), on_behalf())
    assert await world.gate.submit(ask(), on_behalf()) == first
    assert world.committer.prepared == 1


async def test_rejecting_needs_a_reason_and_applies_nothing(world: World) -> None:
    change = await held(world)
    with pytest.raises(InvalidInput, match="reason"):
        await world.gate.decisions.reject(change.id, by="kim", reason="  ")
    await world.gate.decisions.reject(change.id, by="kim", reason="사실이 아니다")
    stored = await world.log.get(change.id)
    assert (stored.status, stored.decision) == (ChangeStatus.REJECTED, "사실이 아니다")
    assert await contents(world) == []


@pytest.mark.parametrize("first", ["approve", "reject"])
async def test_a_decided_change_cannot_be_decided_again(world: World, first: str) -> None:
    change = await held(world)
    if first == "approve":
        await world.gate.decisions.approve(change.id, by="kim")
    else:
        await world.gate.decisions.reject(change.id, by="kim", reason="no")
    for again in (
        world.gate.decisions.approve(change.id, by="lee"),
        world.gate.decisions.reject(change.id, by="lee", reason="no"),
        world.gate.decisions.edit(change.id, Edited(content="x"), by="lee"),
        world.gate.decisions.prepare_again(change.id, by="lee"),
    ):
        with pytest.raises(Decided, match="by kim"):
            await again


async def test_of_two_reviewers_at_once_one_decides(world: World) -> None:
    change = await held(world)
    ended = await asyncio.gather(
        world.gate.decisions.approve(change.id, by="kim"),
        world.gate.decisions.approve(change.id, by="lee"),
        world.gate.decisions.reject(change.id, by="park", reason="no"),
        return_exceptions=True,
    )
    assert sum(isinstance(end, Receipt | Change) for end in ended) == 1
    late = [end for end in ended if isinstance(end, Decided)]
    assert len(late) == 2
    assert all("was decided already" in str(end) for end in late)


async def test_what_was_edited_since_it_was_looked_at_is_not_approved(world: World) -> None:
    change = await held(world)
    await world.gate.decisions.edit(change.id, Edited(content="달러로 적는다"), by="lee")
    with pytest.raises(Stale, match="looked at"):
        await world.gate.decisions.approve(change.id, by="kim", seen=change.content_hash)
    assert await contents(world) == []


async def test_an_edited_change_applies_what_was_edited(world: World) -> None:
    change = await held(world)
    edited = await world.gate.decisions.edit(change.id, Edited(content="달러로 적는다"), by="lee")
    assert edited.content_hash != change.content_hash
    assert edited.edited_by == "lee"
    await world.gate.decisions.approve(change.id, by="kim", seen=edited.content_hash)
    assert await contents(world) == ["달러로 적는다"]


@pytest.mark.parametrize("how", ["edit", "prepare_again"])
async def test_what_waits_goes_on_waiting_where_the_policy_would_let_it_through(
    world: World, how: str
) -> None:
    change = await held(world)
    lenient = _with_policy(world, ReviewPolicy()).gate.decisions
    if how == "edit":
        again = await lenient.edit(change.id, Edited(content="달러로 적는다"), by="lee")
    else:
        again = await lenient.prepare_again(change.id, by="lee")
    assert (again.status, again.held) == (ChangeStatus.HELD, change.held)
    assert (await world.log.get(change.id)).held == change.held
    assert await contents(world) == []


async def test_an_edit_says_why_the_policy_of_today_holds_it(world: World) -> None:
    change = await held(world)
    rules = parse_policy("rules: [{then: hold, because: 달러는 본다}]", "p")
    decisions = _with_policy(world, rules).gate.decisions
    edited = await decisions.edit(change.id, Edited(content="달러로 적는다"), by="lee")
    assert edited.held == ("달러는 본다",)


async def test_an_edit_that_says_what_is_known_is_refused(world: World) -> None:
    first = await held(world)
    await world.gate.decisions.approve(first.id, by="kim")
    second = await held(world, "회의록은 노션에 올린다", key="k2")
    with pytest.raises(Refused, match="already says this"):
        await world.gate.decisions.edit(second.id, Edited(content="원화로 적는다"), by="kim")
    assert (await world.log.get(second.id)).status is ChangeStatus.HELD


async def test_a_change_of_a_target_that_moved_is_prepared_again() -> None:
    world = World()
    made = await world.gate.submit(ask("환불은 7일 이내"), on_behalf("k0"))
    world = _with_policy(world, ALL)
    update = {"operation": "UPDATE", "target_id": made.target_id}
    extend = ask("영수증이 있어야 한다", **update, merge_mode="EXTEND")
    receipt = await world.gate.submit(extend, on_behalf("k1"))
    assert receipt.change_id is not None
    moved = _with_policy(world, ReviewPolicy())
    await moved.gate.submit(ask("환불은 14일 이내", **update), on_behalf("k2"))

    seen = (await world.log.get(receipt.change_id)).content_hash
    with pytest.raises(Stale, match="meanwhile, so the change was prepared again"):
        await world.gate.decisions.approve(receipt.change_id, by="kim", seen=seen)
    assert await contents(world) == ["환불은 14일 이내"]
    with pytest.raises(Stale, match="not what was looked at"):
        await world.gate.decisions.approve(receipt.change_id, by="kim", seen=seen)

    fresh = await world.log.get(receipt.change_id)
    assert fresh.status is ChangeStatus.HELD
    await world.gate.decisions.approve(fresh.id, by="kim", seen=fresh.content_hash)
    assert await contents(world) == ["환불은 14일 이내\n영수증이 있어야 한다"]


async def test_a_store_that_is_down_is_tried_again_by_a_worker(world: World) -> None:
    change = await held(world)
    world.committer.troubles.append(DependencyDown("the store does not answer"))
    with pytest.raises(DependencyDown) as error:
        await world.gate.decisions.approve(change.id, by="kim")
    assert "approved" in error.value.hint
    assert await world.gate.sweep(0) == 1
    assert await contents(world) == ["원화로 적는다"]


async def test_a_deletion_is_approved_but_not_edited() -> None:
    world = World()
    made = await world.gate.submit(ask(), on_behalf("k0"))
    world = _with_policy(world, ALL)
    gone = ask("", operation=Operation.DELETE, target_id=made.target_id)
    receipt = await world.gate.submit(gone, on_behalf("k1"))
    assert receipt.change_id is not None
    with pytest.raises(Refused, match="no content to edit"):
        await world.gate.decisions.edit(receipt.change_id, Edited(content="x"), by="kim")
    await world.gate.decisions.approve(receipt.change_id, by="kim")
    assert await contents(world) == []


async def test_an_edit_does_not_write_over_what_came_since() -> None:
    world = World()
    made = await world.gate.submit(ask("환불은 7일 이내"), on_behalf("k0"))
    waiting = _with_policy(world, ALL)
    update = {"operation": "UPDATE", "target_id": made.target_id, "merge_mode": "EXTEND"}
    first = await waiting.gate.submit(ask("영수증", **update), on_behalf("k1"))
    second = await waiting.gate.submit(ask("배송비", **update), on_behalf("k2"))
    assert first.change_id is not None
    assert second.change_id is not None
    seen = (await waiting.log.get(first.change_id)).content_hash
    await waiting.gate.decisions.approve(second.change_id, by="kim")
    edited = Edited(content="환불은 7일 이내\n영수증 원본")
    with pytest.raises(Stale, match="not what was looked at"):
        await waiting.gate.decisions.edit(first.change_id, edited, by="kim", seen=seen)
    await waiting.gate.decisions.approve(first.change_id, by="kim")
    assert await contents(world) == ["환불은 7일 이내\n배송비\n영수증"]


async def test_an_edited_change_prepared_again_is_done_to_what_is_there() -> None:
    world = World()
    made = await world.gate.submit(ask("환불은 7일 이내"), on_behalf("k0"))
    waiting = _with_policy(world, ALL)
    update = {"operation": "UPDATE", "target_id": made.target_id, "merge_mode": "EXTEND"}
    first = await waiting.gate.submit(ask("영수증", **update), on_behalf("k1"))
    assert first.change_id is not None
    edited = Edited(content="환불은 7일 이내\n영수증 원본")
    await waiting.gate.decisions.edit(first.change_id, edited, by="kim")
    await _with_policy(world, ReviewPolicy()).gate.submit(ask("배송비", **update), on_behalf("k2"))
    with pytest.raises(Stale):
        await waiting.gate.decisions.approve(first.change_id, by="kim")
    await waiting.gate.decisions.prepare_again(first.change_id, by="kim")
    await waiting.gate.decisions.approve(first.change_id, by="kim")
    (text,) = await contents(world)
    assert sorted(text.splitlines()) == ["배송비", "영수증 원본", "환불은 7일 이내"]


async def test_an_edited_creation_keeps_the_id_it_was_given(world: World) -> None:
    receipt = await world.gate.submit(ask(target_id="policy-1"), on_behalf("k1"))
    assert receipt.change_id is not None
    edited = await world.gate.decisions.edit(receipt.change_id, Edited(content="달러"), by="kim")
    assert edited.target_id == "policy-1"


async def test_a_dry_run_decides_nothing(world: World) -> None:
    change = await held(world)
    dry = _with_policy(world, ALL, dry_run=True)
    receipt = await dry.gate.decisions.approve(change.id, by="kim")
    assert receipt.status is ReceiptStatus.PREPARED
    await dry.gate.decisions.reject(change.id, by="kim", reason="no")
    await dry.gate.decisions.edit(change.id, Edited(content="달러"), by="kim")
    assert await world.log.get(change.id) == change


async def test_what_does_not_exist_or_never_waited_is_told_apart(world: World) -> None:
    with pytest.raises(NotFound):
        await world.gate.decisions.approve("nothing", by="kim")
    free = _with_policy(world, ReviewPolicy())
    applied = await free.gate.submit(ask(), on_behalf("k9"))
    assert applied.change_id is not None
    with pytest.raises(Decided, match="waits for nobody"):
        await free.gate.decisions.approve(applied.change_id, by="kim")


def _with_policy(world: World, policy: ReviewPolicy, *, dry_run: bool = False) -> World:
    """Return the same world behind another policy."""
    other = World(policy=policy, dry_run=dry_run, knowledge=world.knowledge)
    other.use(world)
    return other


async def test_asked_again_after_a_rejection_the_answer_is_who_and_why(world: World) -> None:
    change = await held(world)
    await world.gate.decisions.reject(change.id, by="kim", reason="사실이 아니다")
    receipt = await world.gate.submit(ask("원화로 적는다"), on_behalf("k1"))
    assert receipt.status is ReceiptStatus.REFUSED
    assert receipt.message == "MEMORY '원화로 적는다' was rejected by kim: 사실이 아니다"


async def test_a_revert_is_asked_for_again_after_it_was_reverted_or_rejected() -> None:
    world = World()
    made = await world.gate.submit(ask(), on_behalf("k1"))
    change_id = made.change_id or ""
    for _ in range(2):
        reverted = await world.gate.revert(change_id, "no")
        assert await contents(world) == []
        await world.gate.revert(reverted.change_id or "", "yes")
        assert (await world.log.get(change_id)).status is ChangeStatus.APPLIED
        assert await contents(world) == ["원화로 적는다"]
    waiting = _with_policy(world, ReviewPolicy(otherwise="hold"))
    asked = await waiting.gate.revert(change_id, "no")
    await waiting.gate.decisions.reject(asked.change_id or "", by="kim", reason="keep it")
    again = await waiting.gate.revert(change_id, "no, really")
    assert again.status is ReceiptStatus.HELD
    await waiting.gate.decisions.approve(again.change_id or "", by="kim")
    assert await contents(world) == []


async def test_a_restored_state_is_approved_but_not_edited() -> None:
    world = World()
    made = await world.gate.submit(ask(), on_behalf("k1"))
    gone = await world.gate.revert(made.change_id or "", "no")
    waiting = _with_policy(world, ReviewPolicy(otherwise="hold"))
    back = await waiting.gate.revert(gone.change_id or "", "yes")
    with pytest.raises(Refused, match="no content to edit"):
        await waiting.gate.decisions.edit(back.change_id or "", Edited(content="x"), by="kim")
    await waiting.gate.decisions.approve(back.change_id or "", by="kim")
    assert await contents(world) == ["원화로 적는다"]


async def test_what_is_no_skill_has_no_files_to_edit(world: World) -> None:
    change = await held(world)
    files = Edited(files={"SKILL.md": SkillFile(data=b"x")})
    with pytest.raises(InvalidInput, match="a MEMORY has no files"):
        await world.gate.decisions.edit(change.id, files, by="kim")


async def test_an_edit_of_what_others_changed_too_is_a_choice() -> None:
    world = World()
    made = await world.gate.submit(ask("환불은 7일 이내"), on_behalf("k0"))
    waiting = _with_policy(world, ALL)
    update = {"operation": "UPDATE", "target_id": made.target_id, "merge_mode": "REPLACE"}
    first = await waiting.gate.submit(ask("환불은 9일 이내", **update), on_behalf("k1"))
    edited = Edited(content="환불은 14일 이내")
    await waiting.gate.decisions.edit(first.change_id or "", edited, by="kim")
    other = _with_policy(world, ReviewPolicy())
    await other.gate.submit(ask("환불은 30일 이내", **update), on_behalf("k2"))
    fresh = await waiting.gate.decisions.prepare_again(first.change_id or "", by="kim")
    assert fresh.contradicts is not None
    assert fresh.before is not None
    assert fresh.before.content == "환불은 30일 이내"
    await waiting.gate.decisions.approve(fresh.id, by="kim", seen=fresh.content_hash)
    assert await contents(world) == ["환불은 14일 이내"]


async def test_what_is_edited_after_its_target_moved_is_done_to_what_is_there() -> None:
    world = World()
    made = await world.gate.submit(ask("환불은 7일 이내"), on_behalf("k0"))
    waiting = _with_policy(world, ALL)
    update = {"operation": "UPDATE", "target_id": made.target_id, "merge_mode": "EXTEND"}
    first = await waiting.gate.submit(ask("영수증", **update), on_behalf("k1"))
    assert first.change_id is not None
    await _with_policy(world, ReviewPolicy()).gate.submit(ask("배송비", **update), on_behalf("k2"))
    seen = (await waiting.log.get(first.change_id)).content_hash
    edited = Edited(content="환불은 7일 이내\n영수증 원본")
    fresh = await waiting.gate.decisions.edit(first.change_id, edited, by="kim", seen=seen)
    assert fresh.proposed is not None
    assert fresh.proposed.content == "환불은 7일 이내\n영수증"
    await waiting.gate.decisions.approve(fresh.id, by="kim", seen=fresh.content_hash)
    (text,) = await contents(world)
    assert sorted(text.splitlines()) == ["배송비", "영수증 원본", "환불은 7일 이내"]


async def test_a_reviewer_says_how_long_and_for_whom_a_memory_holds(world: World) -> None:
    change = await held(world)
    until = datetime(2099, 1, 1, tzinfo=UTC)
    reach = Reach(valid_until=until, scope=Scope.USER, user="kim")
    edited = await world.gate.decisions.edit(change.id, Edited(reach=reach), by="lee")
    assert edited.after is not None
    assert (edited.after.content, edited.after.reach) == ("원화로 적는다", reach)


async def test_a_twin_of_what_was_approved_has_nothing_left_to_decide(world: World) -> None:
    first, second = await held(world), await held(world, "원화로 적는다.", key="k2")
    await world.gate.decisions.approve(first.id, by="kim")
    ended = await world.log.get(second.id)
    assert (ended.status, ended.decided_by) == (ChangeStatus.REJECTED, None)
    assert ended.decision == "MEMORY '원화로 적는다' says this by now"


async def test_of_two_that_contradict_each_other_both_can_be_kept(world: World) -> None:
    first = await held(world, "제주도 배송은 3일이 걸린다")
    second = await held(world, "제주도 배송은 5일이 걸린다", key="k2")
    await world.gate.decisions.approve(first.id, by="kim")
    choice = await world.log.get(second.id)
    assert (choice.contradicts, choice.operation) == (first.id, Operation.UPDATE)
    assert choice.before is not None
    assert choice.before.content == "제주도 배송은 3일이 걸린다"
    await world.gate.decisions.keep_both(second.id, by="kim", seen=choice.content_hash)
    assert sorted(await contents(world)) == [
        "제주도 배송은 3일이 걸린다",
        "제주도 배송은 5일이 걸린다",
    ]


async def test_two_additions_to_one_memory_do_not_contradict_each_other() -> None:
    world = World()
    made = await world.gate.submit(ask("보고서는 오전 9시에 낸다"), on_behalf("k0"))
    waiting = _with_policy(world, ALL)
    update = {"operation": "UPDATE", "target_id": made.target_id}
    first = await waiting.gate.submit(
        ask("원 단위로 적는다", **update, merge_mode="EXTEND"), on_behalf("k1")
    )
    await waiting.gate.submit(ask("표지를 붙인다", **update, merge_mode="EXTEND"), on_behalf("k2"))
    await waiting.gate.submit(ask("원 단위로 적지 않는다", **update), on_behalf("k3"))
    change = await waiting.log.get(first.change_id or "")
    found = await waiting.gate.decisions.beside(change)
    assert [one.relation.value for one in found] == ["contradicts", "touches"]
