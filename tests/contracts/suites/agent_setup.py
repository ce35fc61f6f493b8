"""Contract of inbox and agents for setting up new agents."""

from __future__ import annotations

from core.domain.models import Agent, NewFeedback
from core.domain.ports import Agents, Inbox

SALES = Agent(id="sales", tenant_id="t1", name="영업", goal="more sales")
PIECE = NewFeedback(id="p", tenant_id="t1", agent_ids=("sales",), content="more sales")
_OTHER = PIECE.model_copy(update={"id": "q"})


class AgentSetupContract:
    """Tests for `Inbox.add_first`; `greeting` sets up new agents, `inbox` knows them."""

    async def test_an_agent_that_waits_gets_one_piece(self, greeting: Agents, inbox: Inbox) -> None:
        await greeting.save(SALES)
        assert await inbox.add_first("setup", PIECE, SALES) is True
        assert list(await greeting.awaiting_setup(9)) == []
        assert await inbox.add_first("setup", _OTHER, SALES) is False
        ((_, is_new),) = await inbox.add("setup", [_OTHER])
        assert is_new

    async def test_a_piece_that_is_in_already_is_not_new_and_the_agent_waits_no_more(
        self, greeting: Agents, inbox: Inbox
    ) -> None:
        await greeting.save(SALES)
        await inbox.add("setup", [PIECE])
        assert await inbox.add_first("setup", PIECE, SALES) is False
        assert list(await greeting.awaiting_setup(9)) == []

    async def test_an_agent_that_was_changed_since_goes_on_waiting(
        self, greeting: Agents, inbox: Inbox
    ) -> None:
        await greeting.save(SALES.model_copy(update={"goal": "happier customers"}))
        assert await inbox.add_first("setup", PIECE, SALES) is False
        assert [agent.goal for agent in await greeting.awaiting_setup(9)] == ["happier customers"]
        ((_, is_new),) = await inbox.add("setup", [PIECE])
        assert is_new
