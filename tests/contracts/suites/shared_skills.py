"""Contract of skills that several agents list; a test class supplies the stores."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from core.domain.errors import Stale, Unforeseen
from core.domain.models import (
    Agent,
    Change,
    ChangeStatus,
    Kind,
    ListEdit,
    Lister,
    Operation,
    RestoreRequest,
    RunEvent,
    SkillListRequest,
    SkillRequest,
    Snapshot,
)
from core.domain.ports import Agents, ChangeLog, Reviews
from tests.contracts.suites.change_log import memory_change

HAPPENED = RunEvent(name="change.approved")
STATE = Snapshot(content="# refund", name="refund", files={})


def deletion(*named: str, key: str = "delete") -> Change:
    """Return agent a's deletion of `refund`; `named` are the others known to list it."""
    listed_by = tuple(Lister(id=name, name=name) for name in named)
    asked = SkillRequest(operation=Operation.DELETE, target_id="refund", listed_by=listed_by)
    update = {"kind": Kind.SKILL, "target_id": "refund", "before": STATE, "request": asked}
    return memory_change(key, "refund", None).model_copy(update=update)


def restoring() -> Change:
    """Return the change that brings `refund` back."""
    asked = RestoreRequest(
        operation=Operation.CREATE,
        target_kind=Kind.SKILL,
        target_id="refund",
        state=STATE,
        expected_hash="absent",
    )
    update = {"kind": Kind.SKILL, "target_id": "refund", "after": STATE, "request": asked}
    return memory_change("restore", None, "refund").model_copy(update=update)


def listing(agent_id: str, before: str, after: str) -> Change:
    """Return a change of an agent's list."""
    change = memory_change(f"list-{agent_id}-{after}", before, after)
    names = tuple(after.split())
    asked = SkillListRequest(skill_ids=names, edit=ListEdit.SET)
    update = {"kind": Kind.AGENT_SKILLS, "target_id": agent_id, "agent_id": agent_id}
    return change.model_copy(update={**update, "request": asked})


class SharedSkillsContract:
    """Tests of who loses a deleted skill, and who gets it back."""

    @pytest.fixture
    async def known(self, agents: Agents) -> Agents:
        """Agents a and b of tenant t, and an a of tenant u, all of whom list `refund`."""
        for agent_id, tenant_id in (("a", "t"), ("b", "t"), ("a", "u")):
            await agents.save(
                Agent(id=agent_id, tenant_id=tenant_id, name="A", skills=("refund", "tax"))
            )
        return agents

    async def test_a_skill_that_an_unnamed_agent_lists_is_not_deleted(
        self, change_log: ChangeLog, known: Agents
    ) -> None:
        with pytest.raises(Unforeseen, match="'b'"):
            await change_log.open(deletion(), {})
        assert await change_log.find("key-delete") is None
        await change_log.open(deletion("b"), {})
        assert [agent.id for agent in await known.having("t", "refund")] == ["a", "b"]

    async def test_an_approval_is_void_once_another_agent_lists_the_skill(
        self, change_log: ChangeLog, reviews: Reviews, known: Agents
    ) -> None:
        update = {"status": ChangeStatus.HELD, "held": ("b lists it",), "content_hash": "h"}
        held = deletion("b").model_copy(update=update)
        await change_log.store(held, {}, HAPPENED)
        await known.save(Agent(id="c", tenant_id="t", name="C", skills=("refund",)))
        with pytest.raises(Unforeseen, match="'c'"):
            await reviews.approve(held, "kim", HAPPENED)
        assert (await change_log.get(held.id)).status is ChangeStatus.HELD

    async def test_what_is_being_deleted_is_put_on_no_list(
        self, change_log: ChangeLog, known: Agents
    ) -> None:
        await known.save(Agent(id="c", tenant_id="t", name="C"))
        attach = listing("c", "", "refund")
        await change_log.open(attach, {})
        await change_log.open(deletion("b"), {})
        with pytest.raises(Stale, match="deleted meanwhile"):
            async with change_log.unit_of_work(attach) as unit:
                await unit.set_agent_skills(attach)

    async def test_a_deleted_skill_leaves_all_lists_and_comes_back_to_them(
        self, change_log: ChangeLog, known: Agents
    ) -> None:
        await _carried_out(change_log, deletion("b"))
        assert await self._lists(known) == [("a", "tax"), ("b", "tax"), ("a", "refund tax")]
        await _carried_out(change_log, restoring())
        lists = await self._lists(known)
        assert lists == [("a", "refund tax"), ("b", "refund tax"), ("a", "refund tax")]

    async def test_a_new_skill_of_a_deleted_ones_name_is_its_makers_alone(
        self, change_log: ChangeLog, known: Agents
    ) -> None:
        await _carried_out(change_log, deletion("b"))
        new = restoring().model_copy(
            update={"request": SkillRequest(operation=Operation.CREATE, target_id="refund")}
        )
        await _carried_out(change_log, new)
        assert await self._lists(known) == [("a", "refund tax"), ("b", "tax"), ("a", "refund tax")]

    async def test_an_earlier_state_of_a_skill_changes_no_list(
        self, change_log: ChangeLog, known: Agents
    ) -> None:
        await known.save(Agent(id="c", tenant_id="t", name="C"))
        restored = restoring().model_copy(update={"before": STATE, "agent_id": "c"})
        await _carried_out(change_log, restored)
        assert await known.get("t", "c") == Agent(id="c", tenant_id="t", name="C")
        update = {"id": "edit", "key": "edit", "request": deletion().request}
        await _carried_out(change_log, restored.model_copy(update=update))
        assert (await known.get("t", "c")).skills == ("refund",)

    async def test_a_list_is_set_for_the_tenants_own_agent(
        self, change_log: ChangeLog, known: Agents
    ) -> None:
        change = listing("a", "refund\ntax", "tax")
        await change_log.open(change, {})
        async with change_log.unit_of_work(change) as unit:
            await unit.set_agent_skills(change)
        assert await self._lists(known) == [("a", "tax"), ("b", "refund tax"), ("a", "refund tax")]

    async def _lists(self, known: Agents) -> Sequence[tuple[str, str]]:
        """Return the lists of tenant t's agents, then of u's."""
        agents = [*await known.list("t"), *await known.list("u")]
        return [(agent.id, " ".join(agent.skills)) for agent in agents]


async def _carried_out(change_log: ChangeLog, change: Change) -> None:
    await change_log.open(change, {})
    async with change_log.unit_of_work(change) as unit:
        await unit.update_agent_and_tenant_skills(change)
        await unit.close(change.id, ChangeStatus.APPLIED)
