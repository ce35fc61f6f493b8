"""The gate: one receipt a key, history for every attempt, nothing applied twice."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field

import pytest

from core.change_gate import ChangeGate, GateDeps
from core.errors import ArtifactInvalid, KeyReused, LeaseLost, Refused, SkillApiDown, Stale
from core.learning_committers.memory_committer import MemoryCommitter
from core.models import (
    Change,
    ChangeRequest,
    ChangeStatus,
    Fence,
    HistoryStatus,
    Kind,
    MemoryRequest,
    MergeMode,
    Operation,
    Prepared,
    ReceiptStatus,
    RunEvent,
    SubmitContext,
)
from core.ports import Settlement
from core.review_policy import stop_all
from core.testing.changes import MemoryChangeLog
from core.testing.knowledge import MemoryKnowledge


class Events(list[RunEvent]):
    """A journal that only remembers."""

    async def emit(self, event: RunEvent) -> None:
        self.append(event)


class Troubled(MemoryCommitter):
    """A memory committer whose outside effects fail as told, once each."""

    def __init__(self, knowledge: MemoryKnowledge) -> None:
        super().__init__(knowledge)
        self.troubles: list[Exception] = []
        self.prepared = 0

    async def prepare(self, request: ChangeRequest, context: SubmitContext) -> Prepared:
        self.prepared += 1
        if self.troubles and isinstance(self.troubles[0], ArtifactInvalid):
            raise self.troubles.pop(0)
        return await super().prepare(request, context)

    async def apply(self, change: Change) -> None:
        if self.troubles:
            raise self.troubles.pop(0)

    async def record(self, change: Change, settlement: Settlement) -> None:
        await super().record(change, settlement)


@dataclass
class World:
    """A gate over memory."""

    policy_stops: bool = False
    knowledge: MemoryKnowledge = field(default_factory=MemoryKnowledge)
    events: Events = field(default_factory=Events)
    pauses: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.log = MemoryChangeLog(self.knowledge)
        self.committer = Troubled(self.knowledge)
        ids = (f"id-{n}" for n in itertools.count(1))
        deps = GateDeps(
            {Kind.MEMORY: self.committer}, self.log, self.events, lambda: next(ids), self.sleep
        )
        if self.policy_stops:
            deps = GateDeps(**{**vars(deps), "policy": stop_all})
        self.gate = ChangeGate(deps)

    async def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)

    def history(self) -> list[tuple[HistoryStatus, str | None, str | None]]:
        return [(h.status, h.previous_content, h.new_content) for h in self.log.history]


def ask(content: str = "원화로 적는다", **given: object) -> MemoryRequest:
    return MemoryRequest.model_validate({"operation": "CREATE", "content": content, **given})


def on_behalf(key: str = "c:1:0:0", epoch: int | None = None) -> SubmitContext:
    fence = None if epoch is None else Fence(candidate_id="cand", epoch=epoch)
    return SubmitContext(key=key, tenant_id="t", agent_id="a", fence=fence, feedback_id="f")


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
    receipt = await world.gate.submit(ask(**given), on_behalf())
    assert receipt.status is ReceiptStatus.REFUSED
    assert said in receipt.message
    assert not world.log.changes
    assert [event.name for event in world.events] == ["change.refused"]


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


async def test_what_the_store_refuses_for_good_is_on_record(world: World) -> None:
    world.committer.troubles = [Refused("the store says no")]
    receipt = await world.gate.submit(ask(), on_behalf())
    assert receipt.status is ReceiptStatus.FAILED
    assert "the store says no" in receipt.message
    assert world.history() == [(HistoryStatus.FAILED, None, "원화로 적는다")]
    assert (await world.gate.submit(ask(), on_behalf())).status is ReceiptStatus.FAILED
    assert len(world.log.history) == 1


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

    world.gate = ChangeGate(
        GateDeps({Kind.MEMORY: world.committer}, world.log, world.events, lambda: "n", release)
    )
    update = ask("two", operation="UPDATE", target_id=first.target_id)
    assert (await world.gate.submit(update, on_behalf("k2"))).status is ReceiptStatus.APPLIED


async def test_a_dry_run_leaves_no_trace() -> None:
    world = World(policy_stops=True)
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
    receipt = await world.gate.revert(last.change_id or "", "wrong", context_key="r1")
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
    receipt = await world.gate.revert(first.change_id or "", "wrong", context_key="r1")
    assert receipt.status is ReceiptStatus.REFUSED
    assert "later change" in receipt.message


async def test_the_sweep_finishes_what_a_dead_run_left(world: World) -> None:
    world.committer.troubles = [SkillApiDown("no answer")]
    with pytest.raises(SkillApiDown):
        await world.gate.submit(ask(), on_behalf())
    assert await world.gate.sweep(0) == 1
    assert world.history()[-1] == (HistoryStatus.APPLIED, None, "원화로 적는다")
    assert await world.gate.sweep(0) == 0
