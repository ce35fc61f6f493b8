"""The feedback that requests an agent's first knowledge: in its language, verbatim, once."""

from __future__ import annotations

import pytest

from core.agent.loop.prompt import feedback_data
from core.app.agent_setup import set_up_new_agents, setup_feedback
from core.domain.errors import InvalidInput
from core.domain.models import SETUP, Agent, Feedback
from core.testing.stores import MemoryAgents, MemoryInbox
from tests.support.react import FEEDBACK

SHOP = Agent(id="shop", tenant_id="t", name="Shop", role="sells", goal="Sell  more.\n", persona="")


def test_goal_and_persona_are_told_verbatim_in_their_language() -> None:
    english = setup_feedback(SHOP)
    assert english.content.startswith("Decide what this agent should know from the start.")
    assert "[Role]\nsells\n\n[Goal]\nSell  more.\n" in english.content
    assert "[Persona]" not in english.content
    korean = setup_feedback(SHOP.model_copy(update={"persona": "존댓말을 씁니다"}))
    assert "[페르소나]\n존댓말을 씁니다" in korean.content
    assert korean.task == "에이전트 초기 설정"


def test_the_same_goal_is_the_same_piece_and_another_is_another() -> None:
    assert setup_feedback(SHOP).id == setup_feedback(SHOP).id
    assert setup_feedback(SHOP).id != setup_feedback(SHOP, again="2").id
    assert setup_feedback(SHOP).id != setup_feedback(SHOP.model_copy(update={"goal": "Rest."})).id


@pytest.mark.parametrize("blank", ["", " \n"])
def test_without_goal_and_persona_there_is_nothing_to_ask(blank: str) -> None:
    with pytest.raises(InvalidInput, match="neither goal nor persona") as refused:
        setup_feedback(SHOP.model_copy(update={"goal": blank}))
    assert "--goal" in refused.value.hint


def test_only_a_setup_is_told_to_the_model_as_one() -> None:
    setup: Feedback = FEEDBACK.model_copy(update={"source": SETUP})
    told, usual = (feedback_data(piece, "x") for piece in (setup, FEEDBACK))
    assert isinstance(told, dict)
    assert isinstance(usual, dict)
    assert told["setup"] is True
    assert "setup" not in usual


async def test_a_new_agent_is_asked_about_once() -> None:
    agents = MemoryAgents([SHOP], sets_up_new=True)
    inbox = MemoryInbox(agents=agents)
    assert await set_up_new_agents(agents, inbox) == 1
    await agents.save(SHOP)
    assert await set_up_new_agents(agents, inbox) == 0
    assert [piece.source for piece in inbox.feedback.values()] == [SETUP]
