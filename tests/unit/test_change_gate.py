"""The gate: one receipt per key, history for every attempt, nothing applied twice."""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.changes.gate.change_gate import ChangeGate, refuse_outsiders
from core.domain.errors import (
    ArtifactInvalid,
    InvalidInput,
    KeyReused,
    LeaseLost,
    Refused,
    SkillApiDown,
    Stale,
)
from core.domain.models import (
    ChangeRequest,
    ChangeStatus,
    HistoryStatus,
    Kind,
    MergeMode,
    Operation,
    Origin,
    ReceiptStatus,
    RestoreRequest,
    RuleRequest,
)
from core.domain.models.feedback import WORKER_AGENT
from tests.support.gate import World, ask, on_behalf


@pytest.fixture
def world() -> World:
    return World()


async def test_a_new_memory_is_applied_and_recorded(world: World) -> None:
    receipt = await world.gate.submit(ask(), on_behalf())
    assert receipt.status is ReceiptStatus.APPLIED
    assert world.history() == [(HistoryStatus.APPLIED, None, "원화로 적는다")]
    assert [event.name for event in world.log.events] == ["change.applied"]
    assert (await world.log.get(receipt.change_id or "")).status is ChangeStatus.APPLIED


async def test_the_same_key_gives_the_same_receipt_and_one_change(world: World) -> None:
    first = await world.gate.submit(ask(), on_behalf())
    again = await world.gate.submit(ask(), on_behalf())
    assert again == first
    assert len(world.log.changes) == len(world.log.history) == 1
    assert world.committer.prepared == 1


async def test_the_same_key_tells_that_its_change_was_reverted_since(world: World) -> None:
    first = await world.gate.submit(ask(), on_behalf())
    await world.gate.revert(first.change_id or "", "wrong")
    again = await world.gate.submit(ask(), on_behalf())
    assert again.message.endswith("created; it was reverted since, and does not hold any more")
    assert again.model_copy(update={"message": first.message}) == first


async def test_the_same_key_for_another_request_is_an_error(world: World) -> None:
    await world.gate.submit(ask(), on_behalf())
    with pytest.raises(KeyReused):
        await world.gate.submit(ask("something else"), on_behalf())


async def test_an_exact_duplicate_changes_nothing(world: World) -> None:
    first = await world.gate.submit(ask("Use KRW"), on_behalf("k1"))
    again = await world.gate.submit(ask("use  krw"), on_behalf("k2"))
    assert again.status is ReceiptStatus.KNOWN
    assert again.target_id == first.target_id
    assert len(world.log.changes) == 1


async def test_an_update_keeps_what_was_there_before(world: World) -> None:
    first = await world.gate.submit(ask("one"), on_behalf("k1"))
    update = ask("two", operation="UPDATE", target_id=first.target_id)
    receipt = await world.gate.submit(update, on_behalf("k2"))
    assert receipt.status is ReceiptStatus.APPLIED
    assert world.history()[1] == (HistoryStatus.APPLIED, "one", "two")


async def test_extend_keeps_every_character(world: World) -> None:
    first = await world.gate.submit(ask("one"), on_behalf("k1"))
    more = ask("two", operation="UPDATE", target_id=first.target_id, merge_mode=MergeMode.EXTEND)
    await world.gate.submit(more, on_behalf("k2"))
    assert world.history()[1][2] == "one\ntwo"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"content": "   "}, "no content"),
        ({"operation": "UPDATE"}, "needs the id"),
        ({"operation": "DELETE", "target_id": "mem-none"}, "no MEMORY"),
    ],
)
async def test_what_cannot_be_done_is_a_receipt_that_says_why(
    world: World, given: dict[str, str], said: str
) -> None:
    receipt = await world.gate.submit(ask(**given), on_behalf(epoch=1))
    assert receipt.status is ReceiptStatus.REFUSED
    assert (receipt.kind, receipt.operation) == (Kind.MEMORY, given.get("operation", "CREATE"))
    assert receipt.target_id == given.get("target_id")
    assert said in receipt.message
    assert not world.log.changes
    (event,) = world.events
    assert (event.name, event.tenant_id) == ("change.refused", "t")
    assert (event.feedback_id, event.candidate_id) == ("f", "cand")
    assert said in str(event.data["error"])
    assert event.data["operation"] == given.get("operation", "CREATE")


async def test_an_outage_leaves_the_intent_and_a_retry_finishes_it(world: World) -> None:
    world.committer.troubles = [SkillApiDown("no answer")]
    with pytest.raises(SkillApiDown):
        await world.gate.submit(ask(), on_behalf())
    assert world.history() == [(HistoryStatus.FAILED, None, "원화로 적는다")]
    receipt = await world.gate.submit(ask(), on_behalf())
    assert receipt.status is ReceiptStatus.APPLIED
    assert len(world.log.changes) == 1
    assert [row[0] for row in world.history()] == [HistoryStatus.FAILED, HistoryStatus.APPLIED]


async def test_a_resumed_run_takes_the_intent_over_with_its_own_epoch(world: World) -> None:
    world.log.epochs["cand"] = 1
    world.committer.troubles = [SkillApiDown("no answer")]
    with pytest.raises(SkillApiDown):
        await world.gate.submit(ask(), on_behalf(epoch=1))
    world.log.epochs["cand"] = 2
    with pytest.raises(LeaseLost):
        await world.gate.submit(ask(), on_behalf(epoch=1))
    receipt = await world.gate.submit(ask(), on_behalf(epoch=2))
    assert receipt.status is ReceiptStatus.APPLIED


async def test_a_target_that_moved_is_prepared_again(world: World) -> None:
    world.committer.troubles = [Stale("moved")]
    receipt = await world.gate.submit(ask(), on_behalf())
    assert receipt.status is ReceiptStatus.APPLIED
    statuses = [change.status for change in world.log.changes.values()]
    assert statuses == [ChangeStatus.STALE, ChangeStatus.APPLIED]
    assert world.committer.prepared == 2
    # A memory is written in the transaction alone, so nothing was tried that is to be on record.
    assert [row[0] for row in world.history()] == [HistoryStatus.APPLIED]


async def test_what_the_store_refuses_for_good_is_on_record(world: World) -> None:
    world.committer.troubles = [Refused("the store says no")]
    receipt = await world.gate.submit(ask(), on_behalf())
    assert receipt.status is ReceiptStatus.FAILED
    assert "the store says no" in receipt.message
    assert world.history() == [(HistoryStatus.FAILED, None, "원화로 적는다")]
    again = await world.gate.submit(ask(), on_behalf())
    assert again.status is ReceiptStatus.APPLIED
    assert [change.attempt for change in world.log.changes.values()] == [1, 2]


async def test_an_author_that_never_gets_it_right_is_on_record(world: World) -> None:
    world.committer.troubles = [ArtifactInvalid(["no description"])]
    receipt = await world.gate.submit(ask(), on_behalf())
    assert receipt.status is ReceiptStatus.FAILED
    assert "no description" in receipt.message
    assert world.history() == [(HistoryStatus.FAILED, None, None)]


async def test_a_target_held_by_another_is_waited_for(world: World) -> None:
    first = await world.gate.submit(ask("one"), on_behalf("k1"))
    held = (await world.log.get(first.change_id or "")).model_copy(
        update={"id": "other", "key": "other", "status": ChangeStatus.APPLYING}
    )
    world.log.changes["other"] = held

    async def release(seconds: float) -> None:
        world.log.changes["other"] = held.model_copy(update={"status": ChangeStatus.FAILED})

    world.gate = ChangeGate(replace(world.gate._deps, sleep=release))
    update = ask("two", operation="UPDATE", target_id=first.target_id)
    assert (await world.gate.submit(update, on_behalf("k2"))).status is ReceiptStatus.APPLIED


async def test_a_dry_run_leaves_no_trace() -> None:
    world = World(dry_run=True)
    receipt = await world.gate.submit(ask(), on_behalf())
    assert receipt.status is ReceiptStatus.PREPARED
    assert receipt.change_id is None
    world.committer.troubles = [ArtifactInvalid(["no description"])]
    await world.gate.submit(ask(), on_behalf("k2"))
    assert not world.log.changes
    assert not world.log.history


@pytest.mark.parametrize("operation", list(Operation))
async def test_reverting_brings_the_target_back(world: World, operation: Operation) -> None:
    first = await world.gate.submit(ask("one"), on_behalf("k1"))
    last = first
    if operation is not Operation.CREATE:
        given = {"operation": operation, "target_id": first.target_id}
        last = await world.gate.submit(ask("two", **given), on_behalf("k2"))
    receipt = await world.gate.revert(last.change_id or "", "wrong")
    assert receipt.status is ReceiptStatus.APPLIED
    items = await world.knowledge.list(tenant_id="t", agent_id="a", kind=None)
    assert [item.content for item in items] == ([] if operation is Operation.CREATE else ["one"])
    assert (await world.log.get(last.change_id or "")).status is ChangeStatus.REVERTED
    assert world.log.history[-1].status is HistoryStatus.REVERTED


async def test_a_later_change_stands_in_the_way_of_a_revert(world: World) -> None:
    first = await world.gate.submit(ask("one"), on_behalf("k1"))
    await world.gate.submit(
        ask("two", operation="UPDATE", target_id=first.target_id), on_behalf("k2")
    )
    receipt = await world.gate.revert(first.change_id or "", "wrong")
    assert receipt.status is ReceiptStatus.REFUSED
    assert "later change" in receipt.message


async def test_the_sweep_finishes_what_a_dead_run_left(world: World) -> None:
    world.committer.troubles = [SkillApiDown("no answer")]
    with pytest.raises(SkillApiDown):
        await world.gate.submit(ask(), on_behalf())
    assert await world.gate.sweep(0) == 1
    assert world.history()[-1] == (HistoryStatus.APPLIED, None, "원화로 적는다")
    assert await world.gate.sweep(0) == 0


RESTORES = RestoreRequest(
    operation=Operation.DELETE,
    target_kind=Kind.MEMORY,
    target_id="m",
    state=None,
    expected_hash="",
)


@pytest.mark.parametrize(
    ("request_", "origin", "is_let_in"),
    [
        # The worker proposes new lessons, and a person takes one back or brings it back.
        (ask(), Origin.WORKER, True),
        (RESTORES, Origin.PERSON, True),
        (ask(is_import=True), Origin.WORKER, False),
        (ask(operation="UPDATE", target_id="m"), Origin.WORKER, False),
        (RuleRequest(operation=Operation.CREATE), Origin.WORKER, False),
        (RESTORES, Origin.WORKER, False),
        (RESTORES, Origin.IMPORT, False),
        (ask(), Origin.PERSON, False),
        (ask(), Origin.AGENT, False),
    ],
)
def test_the_workers_own_id_is_for_its_lessons_alone(
    request_: ChangeRequest, origin: Origin, is_let_in: bool
) -> None:
    context = on_behalf().model_copy(update={"agent_id": WORKER_AGENT, "origin": origin})
    if is_let_in:
        refuse_outsiders(request_, context)
    else:
        with pytest.raises(InvalidInput):
            refuse_outsiders(request_, context)
    refuse_outsiders(request_, context.model_copy(update={"agent_id": "a"}))
