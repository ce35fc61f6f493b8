"""Dividing feedback among agents: with a model, without one, and when the model is wrong."""

from __future__ import annotations

import pytest
from langchain_core.messages import AIMessage
from pydantic import JsonValue

from core.agent.offline.model import AnsweringChatModel, OfflineChatModel
from core.domain.errors import ModelDown, RunFailed
from core.domain.models import Agent, Feedback, MatchResult, Usage
from core.domain.text import read_fenced_json
from core.feedback_matcher import MatchDeps, match_feedback_to_agents
from core.testing.scripted_model import ScriptedChatModel, Turn, calls, says
from core.testing.stores import MemoryReplies
from tests.support.breaker import SimpleBreaker

ORDER = Agent(id="a1", tenant_id="t1", name="주문봇", role="order clerk")
REFUND = Agent(id="a2", tenant_id="t1", name="환불봇", role="refund clerk")
TEXT = "주문봇은 원 단위를 쓰고, 환불봇은 영수증을 확인하세요"
FEEDBACK = Feedback(
    id="f1", source="s", source_id="1", tenant_id="t1", agent_ids=("a1", "a2"), content=TEXT
)


def answer(*parts: tuple[str, str], reason: str = "") -> Turn:
    agents: list[JsonValue] = [{"agent_id": who, "content": what} for who, what in parts]
    return calls(("MatchAnswer", {"agents": agents, "nothing_reason": reason}))


async def match(
    model: AnsweringChatModel, replies: MemoryReplies | None = None, *, agents: int = 2
) -> MatchResult:
    deps = MatchDeps(model, SimpleBreaker(), replies or MemoryReplies())
    return await match_feedback_to_agents(
        FEEDBACK, (ORDER, REFUND)[:agents], "월말", ["log"], deps=deps
    )


def parts(result: MatchResult) -> list[tuple[str, str, str]]:
    return [
        (part.agent_id, part.agent_name, part.learning_candidate.content)
        for part in result.agent_feedbacks
    ]


async def test_a_single_agent_gets_the_feedback_verbatim_without_a_model() -> None:
    model = ScriptedChatModel([])
    assert parts(await match(model, agents=1)) == [("a1", "주문봇", TEXT)]
    assert model.seen == []


async def test_each_agent_gets_its_part_and_our_name_for_it() -> None:
    model = ScriptedChatModel([answer(("a2", "영수증 확인"), ("a1", "원 단위"))])
    assert parts(await match(model)) == [
        ("a1", "주문봇", "원 단위"),
        ("a2", "환불봇", "영수증 확인"),
    ]
    data = read_fenced_json(model.seen[0][1].text)
    assert isinstance(data, dict)
    assert data["feedback"]["text"] == TEXT
    assert [agent["id"] for agent in data["agents"]] == ["a1", "a2"]
    assert data["events"] == ["log"]


async def test_two_parts_of_one_agent_become_one_candidate() -> None:
    model = ScriptedChatModel([answer(("a1", "하나"), ("a1", "둘"))])
    assert parts(await match(model)) == [("a1", "주문봇", "하나\n둘")]


async def test_an_invented_agent_is_refused_and_the_model_is_told() -> None:
    model = ScriptedChatModel([answer(("a9", "x")), answer(("a1", "원 단위"))])
    assert parts(await match(model)) == [("a1", "주문봇", "원 단위")]
    assert "a9" in model.seen[1][-1].text
    assert "a1, a2" in model.seen[1][-1].text


async def test_a_model_that_insists_on_an_invented_agent_fails_the_match() -> None:
    with pytest.raises(RunFailed, match="a9"):
        await match(ScriptedChatModel([answer(("a9", "x"))] * 3))


async def test_nothing_for_anyone_must_be_said_with_a_reason() -> None:
    model = ScriptedChatModel([answer(), answer(reason="다른 팀의 일입니다")])
    assert (await match(model)).agent_feedbacks == ()
    assert "nothing_reason" in model.seen[1][-1].text


@pytest.mark.parametrize("turn", [says("둘 다요"), calls(("MatchAnswer", {"agents": "a1"}))])
async def test_an_answer_that_does_not_parse_is_asked_for_again(turn: Turn) -> None:
    assert parts(await match(ScriptedChatModel([turn, answer(("a1", "x"))]))) == [
        ("a1", "주문봇", "x")
    ]


async def test_json_in_prose_is_read() -> None:
    turn = says('```json\n{"agents": [{"agent_id": "a1", "content": "x"}]}\n```')
    assert parts(await match(ScriptedChatModel([turn]))) == [("a1", "주문봇", "x")]


async def test_a_model_failure_is_an_error_and_never_nothing_to_learn() -> None:
    with pytest.raises(ModelDown):
        await match(ScriptedChatModel([ModelDown("503")]))


async def test_a_stored_reply_is_used_again_without_a_model_call() -> None:
    replies = MemoryReplies()
    model = ScriptedChatModel([answer(("a9", "x")), answer(("a1", "원 단위"))])
    first = await match(model, replies)
    assert await match(ScriptedChatModel([]), replies) == first
    assert list(replies.stored) == [("match:f1:1", 0), ("match:f1:1", 1)]
    assert await replies.usage("match:f1:") == Usage(
        model_calls=2, input_tokens=200, output_tokens=20
    )


async def test_the_offline_model_divides_by_mention() -> None:
    agents = (ORDER, REFUND)
    content = "수고했어요. 주문봇은 원 단위를 쓰세요. 소수점은 빼세요. 환불봇은 영수증을 보세요."
    result = await match_feedback_to_agents(
        FEEDBACK.model_copy(update={"content": content}),
        agents,
        "",
        (),
        deps=MatchDeps(OfflineChatModel(), SimpleBreaker(), MemoryReplies()),
    )
    assert parts(result) == [
        ("a1", "주문봇", "수고했어요.\n주문봇은 원 단위를 쓰세요.\n소수점은 빼세요."),
        ("a2", "환불봇", "환불봇은 영수증을 보세요."),
    ]


@pytest.mark.parametrize(
    ("turn", "why"),
    [
        (
            says("저는 판단할 수 없습니다"),
            "not in prose; its last words: “저는 판단할 수 없습니다”",
        ),
        (says(""), "the model answered with nothing"),
        (
            AIMessage("", additional_kwargs={"refusal": "안 됩니다"}),
            "the model refused to answer; its last words: “안 됩니다”",
        ),
        (calls(("Matcher", {})), "there is no tool 'Matcher'; call MatchAnswer"),
        (calls(("MatchAnswer", {"agents": "a1"})), "agents is no list"),
    ],
)
async def test_why_no_answer_was_usable_is_said(turn: Turn, why: str) -> None:
    with pytest.raises(RunFailed, match="no usable answer") as caught:
        await match(ScriptedChatModel([turn] * 3))
    assert why in caught.value.message
