"""Target locks: one change at a time on a target; the intents of dead runs are adopted."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from core.changes.gate.change_gate import ChangeGate
from core.domain.errors import PrepareFailed, SkillApiDown, TargetBusy
from core.domain.models import (
    ChangeRequest,
    ChangeStatus,
    Fence,
    HistoryStatus,
    Kind,
    MergeMode,
    Prepared,
    ReceiptStatus,
    SubmitContext,
)
from tests.support.gate import Troubled, World, ask, on_behalf


@pytest.fixture
def world() -> World:
    return World()


async def test_who_comes_second_prepares_on_what_the_first_has_made(world: World) -> None:
    first = await world.gate.submit(ask("one"), on_behalf("k1"))
    given = {"operation": "UPDATE", "target_id": first.target_id, "merge_mode": MergeMode.EXTEND}
    more = [world.gate.submit(ask(f"line {n}", **given), on_behalf(f"more-{n}")) for n in range(8)]
    receipts = await asyncio.gather(*more)
    assert {receipt.status for receipt in receipts} == {ReceiptStatus.APPLIED}
    assert world.committer.prepared == 9
    (item,) = await world.knowledge.list(tenant_id="t", agent_id="a", kind=None)
    assert set(item.content.splitlines()) == {"one", *(f"line {n}" for n in range(8))}


async def test_a_busy_target_is_asked_for_ever_less_often_for_ten_seconds(world: World) -> None:
    first = await world.gate.submit(ask("one"), on_behalf("k1"))
    applied = await world.log.get(first.change_id or "")
    other = {"id": "other", "key": "k2", "status": ChangeStatus.PREPARED}
    await world.log.acquire(applied.model_copy(update=other))
    update = ask("two", operation="UPDATE", target_id=first.target_id)
    with pytest.raises(TargetBusy):
        await world.gate.submit(update, on_behalf("k3"))
    assert world.pauses[:5] == [0.05, 0.1, 0.2, 0.3, 0.3]
    assert 10 <= sum(world.pauses) < 10.4


async def test_a_refused_request_lets_go_of_its_target(world: World) -> None:
    first = await world.gate.submit(ask("one"), on_behalf("k1"))
    blank = ask("  ", operation="UPDATE", target_id=first.target_id)
    assert (await world.gate.submit(blank, on_behalf("k2"))).status is ReceiptStatus.REFUSED
    update = ask("two", operation="UPDATE", target_id=first.target_id)
    assert (await world.gate.submit(update, on_behalf("k3"))).status is ReceiptStatus.APPLIED
    assert not world.pauses


async def test_the_hold_of_a_run_that_died_is_taken_over(world: World) -> None:
    first = await world.gate.submit(ask("one"), on_behalf("k1"))
    world.log.epochs["cand"] = 1
    update = ask("two", operation="UPDATE", target_id=first.target_id)
    applied = await world.log.get(first.change_id or "")
    dead = {"id": "dead", "key": "k2", "status": ChangeStatus.PREPARED, "epoch": 1}
    await world.log.acquire(applied.model_copy(update={**dead, "candidate_id": "cand"}))
    world.log.epochs["cand"] = 2
    receipt = await world.gate.submit(update, on_behalf("k2", epoch=2))
    assert receipt.status is ReceiptStatus.APPLIED


async def test_the_sweep_takes_over_an_intent_whose_run_was_started_again(world: World) -> None:
    world.log.epochs["cand"] = 1
    world.committer.troubles = [SkillApiDown("no answer")]
    with pytest.raises(SkillApiDown):
        await world.gate.submit(ask(), on_behalf(epoch=1))
    world.log.epochs["cand"] = 5
    assert await world.gate.sweep(0) == 1
    assert world.history()[-1][0] is HistoryStatus.APPLIED


async def test_one_intent_that_cannot_be_finished_keeps_no_other(world: World) -> None:
    for key in ("k1", "k2"):
        world.committer.troubles = [SkillApiDown("no answer")]
        with pytest.raises(SkillApiDown):
            await world.gate.submit(ask(key), on_behalf(key))
    world.committer.troubles = [SkillApiDown("still down")]
    assert await world.gate.sweep(0) == 1


async def test_a_new_generation_finishes_what_the_old_one_left_open(world: World) -> None:
    world.log.epochs["cand"] = 1
    world.committer.troubles = [SkillApiDown("no answer")]
    with pytest.raises(SkillApiDown):
        await world.gate.submit(ask(), on_behalf(epoch=1))
    world.log.epochs["cand"] = 2
    assert await world.gate.resume(Fence(candidate_id="cand", epoch=2)) == 1
    assert world.history()[-1][0] is HistoryStatus.APPLIED


async def test_restoring_beside_an_equal_item_is_refused_with_that_item(world: World) -> None:
    first = await world.gate.submit(ask("one"), on_behalf("k1"))
    gone = ask("", operation="DELETE", target_id=first.target_id)
    deleted = await world.gate.submit(gone, on_behalf("k2"))
    again = await world.gate.submit(ask("one"), on_behalf("k3"))
    receipt = await world.gate.revert(deleted.change_id or "", "back")
    assert receipt.status is ReceiptStatus.REFUSED
    assert receipt.hits[0].id == again.target_id


async def test_content_that_could_not_be_made_ready_is_on_record_and_tried_again(
    world: World,
) -> None:
    class Broken(Troubled):
        async def prepare(self, request: ChangeRequest, context: SubmitContext) -> Prepared:
            prepared = await super().prepare(request, context)
            if self.prepared == 1:
                raise PrepareFailed(prepared, SkillApiDown("the pod is gone"))
            return prepared

    committer = Broken(world.knowledge)
    world.gate = ChangeGate(replace(world.gate._deps, committers={Kind.MEMORY: committer}))
    with pytest.raises(SkillApiDown):
        await world.gate.submit(ask(), on_behalf())
    assert world.history() == [(HistoryStatus.FAILED, None, "원화로 적는다")]
    assert (await world.gate.submit(ask(), on_behalf())).status is ReceiptStatus.APPLIED
