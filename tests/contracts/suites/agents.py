"""Contract of every store of agents; a test class supplies `agents`."""

from __future__ import annotations

import pytest

from core.domain.errors import InvalidInput, NotFound
from core.domain.models import Agent
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
        await greeting.setup_begun("sales")
        await greeting.save(SALES.model_copy(update={"goal": "another goal"}))
        assert list(await greeting.awaiting_setup(9)) == []

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
        assert await agents.get("sales") == SALES

    async def test_an_unknown_agent_is_not_found(self, agents: Agents) -> None:
        with pytest.raises(NotFound):
            await agents.get("nobody")

    async def test_saving_again_changes_it_but_not_its_skills(self, agents: Agents) -> None:
        await agents.save(SALES)
        changed = SALES.model_copy(update={"goal": "happier customers", "skills": ("other",)})
        assert await agents.save(changed) is False
        found = await agents.get("sales")
        assert (found.goal, found.skills) == ("happier customers", ("refund", "환불"))

    async def test_another_tenant_cannot_take_an_id(self, agents: Agents) -> None:
        await agents.save(SALES)
        with pytest.raises(InvalidInput, match="sales"):
            await agents.save(SALES.model_copy(update={"tenant_id": "t2", "name": "mine now"}))
        assert await agents.get("sales") == SALES

    async def test_agents_are_listed_by_id_and_tenant(self, agents: Agents) -> None:
        for agent_id, tenant_id in (("b", "t1"), ("가", "t1"), ("B", "t1"), ("a", "t2")):
            await agents.save(Agent(id=agent_id, tenant_id=tenant_id, name=agent_id))
        assert [agent.id for agent in await agents.list()] == ["B", "a", "b", "가"]
        assert [agent.id for agent in await agents.list("t1")] == ["B", "b", "가"]
        assert list(await agents.list("t3")) == []
