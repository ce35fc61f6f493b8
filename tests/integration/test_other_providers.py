"""Chat models of Anthropic and Ollama: built as configured, spoken to over their own protocols."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from langchain_core.messages import HumanMessage

from core.agent.model.chat_model import ask_structured, build_chat_model, close_chat_model
from core.domain.errors import ConfigurationError, InvalidInput, ModelDown, SkillWorkerError
from core.domain.models import SkillArtifact, Usage, VerdictStatus
from tests.support.provider_servers import (
    KEY,
    Fails,
    ProviderServer,
    Says,
    Turn,
    anthropic_server,
    calls,
    ollama_server,
)
from tests.support.react import MEMORY, Bench

PROVIDERS = ("anthropic", "ollama")
COMMIT = calls(("commit_to_memory", MEMORY))
DONE = Says("원 단위 선호를 기억했습니다.")


@asynccontextmanager
async def bench(
    provider: str, monkeypatch: pytest.MonkeyPatch, *turns: Turn
) -> AsyncIterator[tuple[Bench, ProviderServer]]:
    pytest.importorskip(f"langchain_{provider}")
    serve = anthropic_server if provider == "anthropic" else ollama_server
    async with serve(*turns) as server:
        monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        monkeypatch.setenv("OLLAMA_HOST", server.url)
        run = Bench([])
        model = build_chat_model(f"{provider}:a-model", timeout=5, max_retries=0)
        run.model = model  # type: ignore[assignment]
        try:
            yield run, server
        finally:
            await close_chat_model(model)


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_tools_and_korean_text_travel_both_ways(
    provider: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with bench(provider, monkeypatch, COMMIT, DONE) as (run, server):
        verdict = await run.run()
    assert verdict.status is VerdictStatus.COMPLETED
    assert verdict.reason == DONE.text
    assert verdict.usage == Usage(model_calls=2, input_tokens=200, output_tokens=20)
    assert run.gate.submitted[0][0].content == MEMORY["content"]  # type: ignore[union-attr]
    assert server.asked[0]["model"] == "a-model"
    tools = server.asked[0]["tools"]
    assert isinstance(tools, list)
    assert len(tools) == 10
    assert "김 부장님" in str(server.asked[1]["messages"])


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_several_calls_at_once_are_all_answered_in_their_order(
    provider: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    many = calls(*[("commit_to_memory", MEMORY | {"content": f"m{n}"}) for n in range(3)])
    async with bench(provider, monkeypatch, many, DONE) as (run, _):
        verdict = await run.run()
    assert verdict.status is VerdictStatus.COMPLETED
    assert [request.content for request, _ in run.gate.submitted] == ["m0", "m1", "m2"]  # type: ignore[union-attr]


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_wrong_calls_and_prose_are_answered_within_the_protocol(
    provider: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = calls(("remember", {"text": "x"}), ("commit_to_memory", {"content": 12}))
    turns = (wrong, Says(""), Says("저장하겠습니다."), COMMIT, DONE)
    async with bench(provider, monkeypatch, *turns) as (run, server):
        verdict = await run.run()
    assert (verdict.status, verdict.refused) == (VerdictStatus.COMPLETED, ())
    assert "there is no tool 'remember'" in str(server.asked[1]["messages"])
    assert "content is no text" in str(server.asked[1]["messages"])


@pytest.mark.parametrize(
    ("provider", "turn", "told"),
    [
        ("anthropic", Says(stop="refusal"), "the model refused to answer (4 times)"),
        ("anthropic", Says("음", stop="max_tokens"), "the model's limit of output tokens"),
        ("ollama", Says("음", stop="length"), "the model's limit of output tokens"),
        ("ollama", Says(), "the model answered with nothing (4 times)"),
    ],
)
async def test_why_a_model_does_nothing_is_read_from_its_own_words_for_it(
    provider: str, turn: Turn, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with bench(provider, monkeypatch, *[turn] * 4) as (run, _):
        verdict = await run.run()
    assert verdict.status is VerdictStatus.FAILED
    assert told in verdict.reason


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_structured_answers_are_read(provider: str, monkeypatch: pytest.MonkeyPatch) -> None:
    artifact = {"name": "refund", "description": "환불"}
    async with bench(provider, monkeypatch, calls(("SkillArtifact", artifact))) as (run, server):
        reply = await ask_structured(run.model, [HumanMessage("x")], SkillArtifact)
    assert reply.value == SkillArtifact(name="refund", description="환불")
    assert reply.usage == Usage(model_calls=1, input_tokens=100, output_tokens=10)
    if provider == "anthropic":
        assert server.asked[0]["tool_choice"] == {"type": "any"}


@pytest.mark.parametrize(
    ("provider", "turn", "kind", "told"),
    [
        ("anthropic", Fails(401, "invalid x-api-key"), ConfigurationError, "invalid x-api-key"),
        ("anthropic", Fails(404, "model: a-model"), ConfigurationError, "model: a-model"),
        ("anthropic", Fails(529, "Overloaded"), ModelDown, "Overloaded"),
        ("anthropic", Fails(500, "Internal"), ModelDown, "Internal"),
        ("anthropic", Fails(400, "prompt is too long: 9"), InvalidInput, "too long"),
        ("ollama", Fails(404, "model 'a-model' not found"), ConfigurationError, "not found"),
        ("ollama", Fails(400, "does not support tools"), InvalidInput, "support tools"),
        ("ollama", Fails(503, "server busy"), ModelDown, "server busy"),
    ],
)
async def test_errors_of_a_provider_are_sorted_and_said(
    provider: str,
    turn: Turn,
    kind: type[SkillWorkerError],
    told: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with bench(provider, monkeypatch, turn) as (run, _):
        with pytest.raises(kind, match=told):
            await run.run()


async def test_a_rate_limit_of_anthropic_passes_on_when_to_come_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    busy = Fails(429, "rate", "rate_limit_error", (("retry-after", "17"),))
    async with bench("anthropic", monkeypatch, busy) as (run, _):
        with pytest.raises(ModelDown) as caught:
            await run.run()
    assert caught.value.retry_after == 17.0


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_a_provider_that_is_not_there_is_down(
    provider: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip(f"langchain_{provider}")
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    for name in ("ANTHROPIC_BASE_URL", "OLLAMA_HOST"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    model = build_chat_model(f"{provider}:a-model", timeout=5, max_retries=0)
    with pytest.raises(ModelDown, match="cannot be reached"):
        await ask_structured(model, [HumanMessage("x")], SkillArtifact)
    await close_chat_model(model)


def test_a_key_of_anthropic_that_is_missing_is_said_at_the_start(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip("langchain_anthropic")
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    with pytest.raises(ConfigurationError, match="anthropic") as caught:
        build_chat_model("anthropic:a-model")
    assert "ANTHROPIC_API_KEY" in caught.value.hint
