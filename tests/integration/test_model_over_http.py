"""The model path over real HTTP: langchain-openai against an OpenAI-compatible server."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from langchain_core.messages import HumanMessage

from core.agent.model.chat_model import ask_structured, build_chat_model, close_chat_model
from core.domain.errors import ConfigurationError, InvalidInput, ModelDown
from core.domain.models import SkillArtifact, Usage, VerdictStatus
from tests.support.openai_server import (
    OpenAIServer,
    Turn,
    call,
    drops,
    error,
    hangs,
    html,
    message,
    openai_server,
)
from tests.support.react import MEMORY, Bench

COMMIT = call("commit_to_memory", **MEMORY)
DONE = message("원 단위 선호를 기억했습니다.")


@asynccontextmanager
async def bench(
    turns: Sequence[Turn], *, timeout: float = 5.0, max_retries: int = 0
) -> AsyncIterator[tuple[Bench, OpenAIServer]]:
    async with openai_server(turns) as server:
        run = Bench([])
        model = build_chat_model(
            "openai:gpt-4o",
            proxy_url=server.url,
            proxy_api_key="secret",
            timeout=timeout,
            max_retries=max_retries,
        )
        run.model = model  # type: ignore[assignment]
        try:
            yield run, server
        finally:
            await close_chat_model(model)


async def test_tools_and_korean_text_travel_both_ways() -> None:
    async with bench([COMMIT, DONE]) as (run, server):
        verdict = await run.run()
    assert verdict.status is VerdictStatus.COMPLETED
    assert verdict.reason == "원 단위 선호를 기억했습니다."
    assert verdict.usage == Usage(model_calls=2, input_tokens=200, output_tokens=20)
    assert run.gate.submitted[0][0].content == MEMORY["content"]  # type: ignore[union-attr]
    assert server.asked[0]["model"] == "gpt-4o"
    assert server.keys[0] == "Bearer secret"
    tools = server.asked[0]["tools"]
    assert isinstance(tools, list)
    assert len(tools) == 10
    rule = next(t["function"] for t in tools if t["function"]["name"] == "commit_to_dmn_rule")
    assert "rows" in json.dumps(rule["parameters"])
    assert "runtime" not in json.dumps(tools)


async def test_several_calls_at_once_run_in_their_order_also_with_one_id() -> None:
    made = [("commit_to_memory", json.dumps(MEMORY | {"content": f"m{i}"})) for i in range(4)]
    async with bench([message("", *made, call_id="same"), DONE]) as (run, server):
        await run.run()
    assert [request.content for request, _ in run.gate.submitted] == ["m0", "m1", "m2", "m3"]  # type: ignore[union-attr]
    sent = server.asked[1]["messages"]
    assert isinstance(sent, list)
    answered = [m["tool_call_id"] for m in sent if m["role"] == "tool"]
    assert answered == [made["id"] for made in sent[2]["tool_calls"]]
    assert len(set(answered)) == 4


async def test_content_in_parts_is_all_read() -> None:
    parts = [{"type": "text", "text": "첫째. "}, {"type": "text", "text": "둘째."}]
    async with bench([COMMIT, message(parts)]) as (run, _):
        assert (await run.run()).reason == "첫째. 둘째."


async def test_malformed_arguments_are_answered_and_asked_again() -> None:
    async with bench([message(None, ("commit_to_memory", '{"content": "x')), COMMIT, DONE]) as (
        run,
        server,
    ):
        verdict = await run.run()
    assert verdict.status is VerdictStatus.COMPLETED
    sent = server.asked[1]["messages"]
    assert isinstance(sent, list)
    assert sent[-1]["role"] == "tool"
    assert "not valid JSON" in sent[-1]["content"]


async def test_half_a_character_in_an_answer_is_replaced_and_not_fatal() -> None:
    broken = json.dumps(MEMORY | {"content": "원\ud83d"})
    async with bench([message(None, ("commit_to_memory", broken)), DONE]) as (run, _):
        await run.run()
    assert run.gate.submitted[0][0].content == "원\ufffd"  # type: ignore[union-attr]


async def test_a_rate_limit_passes_on_when_to_come_back() -> None:
    async with bench([error(429, retry_after="17")]) as (run, _):
        with pytest.raises(ModelDown) as caught:
            await run.run()
    assert caught.value.retry_after == 17.0


async def test_a_date_to_come_back_is_read_by_the_server_s_clock() -> None:
    due = format_datetime(datetime.now(UTC) + timedelta(seconds=90), usegmt=True)
    async with bench([error(503, retry_after=due)]) as (run, _):
        with pytest.raises(ModelDown) as caught:
            await run.run()
    assert caught.value.retry_after == pytest.approx(90, abs=10)


@pytest.mark.parametrize("turn", [error(500), error(408), error(409), error(529), drops, html])
async def test_what_may_pass_is_retryable_and_the_run_goes_on_later(turn: Turn) -> None:
    async with bench([COMMIT, turn, DONE]) as (run, server):
        with pytest.raises(ModelDown):
            await run.run()
        assert (await run.run()).status is VerdictStatus.COMPLETED
        assert len(server.asked) == 3
    assert len(run.gate.submitted) == 1


async def test_a_model_that_does_not_answer_in_time_is_down() -> None:
    async with bench([hangs], timeout=0.2) as (run, _):
        with pytest.raises(ModelDown):
            await run.run()


async def test_a_server_that_is_not_there_is_down() -> None:
    model = build_chat_model("m", proxy_url="http://127.0.0.1:1/v1", max_retries=0)
    with pytest.raises(ModelDown, match=r"the model at http://127\.0\.0\.1:1 cannot") as caught:
        await ask_structured(model, [HumanMessage("x")], SkillArtifact)
    assert "LLM_PROXY_URL" in caught.value.hint
    await close_chat_model(model)


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, InvalidInput),
        (401, ConfigurationError),
        (403, ConfigurationError),
        (404, ConfigurationError),
        (422, InvalidInput),
    ],
)
async def test_what_will_not_pass_is_permanent_and_says_why(status: int, kind: type) -> None:
    async with bench([error(status, "because")]) as (run, _):
        with pytest.raises(kind, match="because"):
            await run.run()


async def test_a_prompt_that_is_too_long_is_permanent() -> None:
    turn = error(400, "context_length_exceeded: too many tokens")
    async with bench([turn]) as (run, _):
        with pytest.raises(InvalidInput, match="too many tokens"):
            await run.run()


async def test_the_client_retries_by_itself_as_often_as_it_is_told() -> None:
    busy = error(503, retry_after_ms="1")
    async with bench([busy, busy, COMMIT, DONE], max_retries=2) as (run, server):
        assert (await run.run()).status is VerdictStatus.COMPLETED
    assert len(server.asked) == 4


async def test_structured_answers_are_forced_by_tool_choice() -> None:
    turn = call("SkillArtifact", name="refund", description="환불")
    async with bench([turn]) as (run, server):
        reply = await ask_structured(run.model, [HumanMessage("x")], SkillArtifact)
    assert reply.value == SkillArtifact(name="refund", description="환불")
    assert server.asked[0]["tool_choice"] == "required"
    assert reply.usage == Usage(model_calls=1, input_tokens=100, output_tokens=10)
