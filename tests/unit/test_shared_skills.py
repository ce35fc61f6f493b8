"""Skills that several agents list: taken off one list, deleted for all by a person's leave."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from core.domain.errors import Refused, Stale
from core.domain.models import (
    Agent,
    ChangeStatus,
    Edited,
    HistoryStatus,
    Kind,
    ListEdit,
    Operation,
    Receipt,
    ReceiptStatus,
    SkillListRequest,
)
from core.learning_committers.agent_skills_committer import (
    attach_skills_to_agent,
    detach_skills_from_agent,
)
from core.learning_committers.skill_committer import commit_to_skill
from core.skills.bundle import bundle_hash
from core.testing.stores import MemoryAgents
from tests.support.skills import World
from tests.unit.test_retract_skills import Told

NAME = "partial-refund"
A_AND_B = {"a": (NAME,), "b": (NAME,)}


async def shared(world: World) -> World:
    """Return a world in which agents a and b list one skill."""
    await world.create()
    await attach_skills_to_agent("b", NAME, deps=world.deps("b"))
    return world


async def deleted(world: World, agent_id: str = "a", *, for_all: bool = False) -> Receipt:
    return await commit_to_skill(
        agent_id,
        operation=Operation.DELETE,
        skill_id=NAME,
        for_all=for_all,
        reason="폐지",
        deps=world.deps(f"{agent_id} deletes"),
    )


async def lists(world: World) -> dict[str, tuple[str, ...]]:
    return {agent.id: agent.skills for agent in await world.agents.list("t")}


async def test_what_others_list_too_is_taken_off_the_agents_list_alone() -> None:
    world = await shared(World())
    receipt = await deleted(world)
    assert receipt.status is ReceiptStatus.APPLIED
    assert receipt.message == (
        "taken off the list of agent 'A': partial-refund; the skill itself is not deleted: it is "
        "also on the list of B (b)"
    )
    assert await lists(world) == {"a": (), "b": (NAME,)}
    assert ("t", NAME) in world.store.skills
    record = world.log.history[-1]
    assert (record.knowledge_type, record.knowledge_id) == (Kind.AGENT_SKILLS, "a")
    assert (record.operation, record.status) == (Operation.UPDATE, HistoryStatus.APPLIED)
    assert (record.previous_content, record.new_content) == (NAME, "")
    assert world.log.changes[receipt.change_id or ""].reason == (
        "폐지; a deletion was asked for, but 'partial-refund' is also on the list of B (b), so it "
        "only leaves this list"
    )
    again = await deleted(world)  # the same key
    assert (again.status, again.message) == (receipt.status, receipt.message)
    assert (await world.gate.revert(receipt.change_id or "", "still needed")).status.is_outcome
    assert await lists(world) == A_AND_B


async def test_what_nobody_else_lists_is_deleted() -> None:
    world = World()
    await world.create()
    assert (await deleted(world)).kind is Kind.SKILL
    assert not world.store.skills


async def test_an_agent_without_the_skill_is_told_who_has_it() -> None:
    world = World()
    await world.create()
    receipt = await deleted(world, "b")
    assert receipt.status is ReceiptStatus.REFUSED
    assert "on that of A (a)" in receipt.message
    assert "for_all" in receipt.message
    assert await lists(world) == {"a": (NAME,), "b": ()}


async def test_a_deletion_for_all_waits_and_names_who_loses_the_skill() -> None:
    world = await shared(World())
    before = world.store.skills["t", NAME]
    receipt = await deleted(world, for_all=True)
    assert receipt.status is ReceiptStatus.HELD
    assert "would be gone for all: it is also on the list of B (b)" in receipt.message
    assert await lists(world) == A_AND_B
    done = await world.gate.decisions.approve(receipt.change_id or "", by="kim")
    assert done.status is ReceiptStatus.APPLIED
    assert not world.store.skills
    assert await lists(world) == {"a": (), "b": ()}
    await world.gate.revert(receipt.change_id or "", "still needed")
    assert bundle_hash(world.store.skills["t", NAME]) == bundle_hash(before)
    assert await lists(world) == A_AND_B


async def test_undoing_a_creation_that_others_list_waits_for_a_person() -> None:
    world = await shared(World())
    (made, _) = world.log.changes.values()
    receipt = await world.gate.revert(made.id, "wrong")
    assert receipt.status is ReceiptStatus.HELD
    assert "B (b)" in receipt.message
    await world.gate.decisions.approve(receipt.change_id or "", by="kim")
    assert not world.store.skills
    assert await lists(world) == {"a": (), "b": ()}


async def test_who_attaches_while_a_deletion_waits_does_not_lose_the_skill() -> None:
    world = await shared(World())
    receipt = await deleted(world, for_all=True)
    change_id = receipt.change_id or ""
    seen = world.log.changes[change_id].content_hash
    await world.agents.save(Agent(id="c", tenant_id="t", name="C", skills=(NAME,)))
    with pytest.raises(Stale, match="'c'") as caught:
        await world.gate.decisions.approve(change_id, by="kim", seen=seen)
    assert "look at it again" in caught.value.hint
    fresh = world.log.changes[change_id]
    assert fresh.status is ChangeStatus.HELD
    assert "the list of B (b), C (c)" in fresh.held[0]
    with pytest.raises(Stale):  # who saw the old one decides about that
        await world.gate.decisions.approve(change_id, by="kim", seen=seen)
    await world.gate.decisions.approve(change_id, by="kim", seen=fresh.content_hash)
    assert not world.store.skills


class LateAgents(MemoryAgents):
    """Agents of which one lists a skill right after somebody has looked who does."""

    late: Agent | None = None

    async def having(self, tenant_id: str, skill: str) -> Sequence[Agent]:
        found = await super().having(tenant_id, skill)
        if self.late is not None:
            late, self.late = self.late, None
            await self.save(late)
        return found


async def test_who_attaches_while_a_deletion_is_prepared_does_not_lose_the_skill() -> None:
    world = World(agents_class=LateAgents)
    await world.create()
    assert isinstance(world.agents, LateAgents)
    world.agents.late = Agent(id="c", tenant_id="t", name="C", skills=(NAME,))
    receipt = await deleted(world)
    assert receipt.kind is Kind.AGENT_SKILLS
    assert "also on the list of C (c)" in receipt.message
    assert ("t", NAME) in world.store.skills
    assert await lists(world) == {"a": (), "b": (), "c": (NAME,)}


async def test_a_waiting_deletion_becomes_one_of_the_list_once_others_have_it() -> None:
    world = World()
    await world.create()
    world.hold_all()
    receipt = await deleted(world)
    change_id = receipt.change_id or ""
    await world.agents.save(Agent(id="c", tenant_id="t", name="C", skills=(NAME,)))
    with pytest.raises(Stale):
        await world.gate.decisions.approve(change_id, by="kim")
    fresh = await world.gate.decisions.prepare_again(change_id, by="kim")
    assert (fresh.kind, fresh.target_id, fresh.operation) == (
        Kind.AGENT_SKILLS,
        "a",
        Operation.UPDATE,
    )
    done = await world.gate.decisions.approve(change_id, by="kim")
    assert "also on the list of C (c)" in done.message
    assert await lists(world) == {"a": (), "b": (), "c": (NAME,)}
    assert ("t", NAME) in world.store.skills


async def test_a_skill_is_detached_and_stays() -> None:
    world = await shared(World())
    receipt = await detach_skills_from_agent("b", f" {NAME} ", "not its job", deps=world.deps("d"))
    assert receipt.status is ReceiptStatus.APPLIED
    assert receipt.message == "taken off the list of agent 'B': partial-refund"
    assert await lists(world) == {"a": (NAME,), "b": ()}
    assert world.log.history[-1].operation is Operation.UPDATE
    await world.gate.revert(receipt.change_id or "", "it is")
    assert await lists(world) == A_AND_B


@pytest.mark.parametrize("names", [NAME, "no-such-skill", f"{NAME},no-such-skill"])
async def test_what_is_not_on_the_list_is_named_and_nothing_happens(names: str) -> None:
    world = World()
    await world.create()
    receipt = await detach_skills_from_agent("b", names, deps=world.deps("d"))
    assert receipt.status is ReceiptStatus.REFUSED
    listed = ", ".join(names.split(","))
    assert receipt.message.startswith(f"not on the list of agent 'b': {listed}")
    assert "its list is empty" in receipt.message
    assert await lists(world) == {"a": (NAME,), "b": ()}


async def test_of_skills_that_are_not_there_the_first_is_named() -> None:
    world = World()
    receipt = await attach_skills_to_agent("b", "no-b, no-a, no-c", deps=world.deps("d"))
    assert receipt.status is ReceiptStatus.REFUSED
    assert "'no-a'" in receipt.message


async def test_a_list_is_set_as_a_whole_even_to_nothing() -> None:
    world = await shared(World())
    for names, left in (((), ()), ((NAME,), (NAME,))):
        asked = SkillListRequest(skill_ids=names, edit=ListEdit.SET)
        receipt = await world.gate.submit(asked, world.deps(f"set {names}").context)
        assert receipt.status.is_outcome, receipt
        assert await lists(world) == {"a": left, "b": (NAME,)}
    unknown = SkillListRequest(skill_ids=("nope",), edit=ListEdit.SET)
    refused = await world.gate.submit(unknown, world.deps("unknown").context)
    assert "nope" in refused.message


async def test_an_edited_list_is_what_the_reviewer_wrote() -> None:
    world = await shared(World())
    world.hold_all()
    receipt = await detach_skills_from_agent("b", NAME, deps=world.deps("d"))
    change_id = receipt.change_id or ""
    with pytest.raises(Refused, match="already"):  # it is on the list as it stands
        await world.gate.decisions.edit(change_id, Edited(content=NAME), by="kim")
    await world.gate.decisions.approve(change_id, by="kim")
    assert await lists(world) == {"a": (NAME,), "b": ()}


async def test_undoing_a_detachment_of_a_skill_that_is_gone_says_so() -> None:
    world = await shared(World())
    receipt = await detach_skills_from_agent("b", NAME, deps=world.deps("d"))
    await deleted(world)
    assert not world.store.skills
    undone = await world.gate.revert(receipt.change_id or "", "it is")
    assert undone.status is ReceiptStatus.REFUSED
    assert "no such skill any more: partial-refund" in undone.message
    assert await lists(world) == {"a": (), "b": ()}


async def test_retracting_a_deletion_that_became_a_detachment_lists_it_again() -> None:
    told = Told()
    await told.make("f0", "refund")
    await told.attach("f0", "refund", agent_id="b")
    await told.delete("f1", "refund")
    assert (await told.listed("a"), await told.listed("b")) == ([], ["refund"])
    assert (await told.retract("f1")).is_done
    assert await told.listed("a") == ["refund"]


async def test_retracting_a_detachment_leaves_out_what_was_deleted_since() -> None:
    told = Told()
    await told.make("f0", "refund")
    await told.attach("f0", "refund", agent_id="b")
    await told.detach("f1", "refund", agent_id="b")
    await told.delete("f2", "refund")
    assert (await told.retract("f1")).is_done
    assert await told.listed("b") == []
