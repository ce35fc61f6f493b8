"""Contract of every store of agents; a test class supplies `agents`."""

from __future__ import annotations

import pytest

from core.domain.errors import InvalidInput, NotFound
from core.domain.models import Agent
from core.domain.models.feedback import WORKER_AGENT
from core.domain.ports import Agents

SALES = Agent(
    id="sales",
    tenant_id="t1",
    name="영업 담당",
    role="sells",
    goal="more sales",
    persona="kind",
    skills=("refund", "환불"),
)


class AgentsContract:
    """Tests for any store of agents; `greeting` is one that sets up new agents."""

    async def test_new_agents_with_a_goal_wait_to_be_set_up_once(self, greeting: Agents) -> None:
        await greeting.save(SALES)
        await greeting.save(SALES.model_copy(update={"id": "aimless", "goal": " \n"}))
        assert [agent.id for agent in await greeting.awaiting_setup(9)] == ["sales"]
        await greeting.setup_begun("t1", "sales")
        await greeting.save(SALES.model_copy(update={"goal": "another goal"}))
        assert list(await greeting.awaiting_setup(9)) == []

    async def test_no_agent_has_the_id_of_the_worker_itself(self, greeting: Agents) -> None:
        for id_ in (WORKER_AGENT, "SKILL-worker"):
            with pytest.raises(InvalidInput):
                await greeting.save(SALES.model_copy(update={"id": id_}))
            with pytest.raises(InvalidInput):
                await greeting.get("t1", id_)
            with pytest.raises(InvalidInput):
                await greeting.of_id(id_)

    async def test_an_agent_that_gets_its_first_goal_later_waits_then(
        self, greeting: Agents
    ) -> None:
        await greeting.save(SALES.model_copy(update={"goal": ""}))
        await greeting.save(SALES)
        (found,) = await greeting.awaiting_setup(9)
        assert (found.id, found.goal) == ("sales", "more sales")

    async def test_no_agent_waits_where_new_ones_are_not_set_up(self, agents: Agents) -> None:
        await agents.save(SALES)
        assert list(await agents.awaiting_setup(9)) == []

    async def test_an_agent_comes_back_as_it_was_saved(self, agents: Agents) -> None:
        assert await agents.save(SALES) is True
        assert await agents.get("t1", "sales") == SALES

    async def test_an_unknown_agent_is_not_found(self, agents: Agents) -> None:
        with pytest.raises(NotFound):
            await agents.get("t1", "nobody")

    async def test_saving_again_changes_it_but_not_its_skills(self, agents: Agents) -> None:
        await agents.save(SALES)
        changed = SALES.model_copy(update={"goal": "happier customers", "skills": ("other",)})
        assert await agents.save(changed) is False
        found = await agents.get("t1", "sales")
        assert (found.goal, found.skills) == ("happier customers", ("refund", "환불"))

    async def test_two_tenants_may_use_one_id_each_for_its_own(self, agents: Agents) -> None:
        other = SALES.model_copy(update={"tenant_id": "t2", "name": "B2B", "skills": ("audit",)})
        assert await agents.save(SALES)
        assert await agents.save(other)
        assert await agents.get("t1", "sales") == SALES
        assert await agents.get("t2", "sales") == other
        assert await agents.of_id("sales") == [SALES, other]
        assert await agents.list("t2") == [other]
        changed = SALES.model_copy(update={"goal": "fewer returns"})
        assert not await agents.save(changed)
        assert await agents.of_id("sales") == [changed, other]
        with pytest.raises(NotFound):
            await agents.get("t3", "sales")
        assert list(await agents.of_id("nobody")) == []

    async def test_agents_of_one_id_are_set_up_each_for_itself(self, greeting: Agents) -> None:
        await greeting.save(SALES)
        await greeting.save(SALES.model_copy(update={"tenant_id": "t2"}))
        waiting = await greeting.awaiting_setup(9)
        assert [(agent.id, agent.tenant_id) for agent in waiting] == [
            ("sales", "t1"),
            ("sales", "t2"),
        ]
        await greeting.setup_begun("t1", "sales")
        assert [agent.tenant_id for agent in await greeting.awaiting_setup(9)] == ["t2"]

    async def test_who_has_a_skill_is_told_within_the_tenant(self, agents: Agents) -> None:
        for agent_id, tenant_id, skills in (
            ("b", "t1", ("refund", "audit")),
            ("a", "t1", ("refund",)),
            ("c", "t1", ("audit",)),
            ("a", "t2", ("refund",)),
        ):
            agent = Agent(id=agent_id, tenant_id=tenant_id, name=agent_id, skills=skills)
            await agents.save(agent)
        assert [agent.id for agent in await agents.having("t1", "refund")] == ["a", "b"]
        assert [agent.id for agent in await agents.having("t2", "refund")] == ["a"]
        assert list(await agents.having("t2", "audit")) == []

    async def test_agents_are_listed_by_id_and_tenant(self, agents: Agents) -> None:
        for agent_id, tenant_id in (("b", "t1"), ("가", "t1"), ("B", "t1"), ("a", "t2")):
            await agents.save(Agent(id=agent_id, tenant_id=tenant_id, name=agent_id))
        assert [agent.id for agent in await agents.list()] == ["B", "a", "b", "가"]
        assert [agent.id for agent in await agents.list("t1")] == ["B", "b", "가"]
        assert list(await agents.list("t3")) == []
