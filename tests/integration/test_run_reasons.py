"""Why a run came to nothing: its reason names the cause, over real HTTP and langchain-openai."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import pytest

from core.agent.loop.middleware import INVALID_TURNS
from core.agent.model.chat_model import build_chat_model, close_chat_model
from core.domain.messages import without_content
from core.domain.models import ReceiptStatus, Usage, VerdictStatus
from tests.support.openai_server import OpenAIServer, Turn, call, message, openai_server
from tests.support.react import MEMORY, Bench

COMMIT = call("commit_to_memory", **MEMORY)
DONE = message("기억했습니다.")
LOST = message("이제 그만하겠습니다.")
BORED = call("no_action", reason="지루함", category="bored")


@asynccontextmanager
async def bench(turns: Sequence[Turn]) -> AsyncIterator[tuple[Bench, OpenAIServer]]:
    async with openai_server(turns) as server:
        run = Bench([])
        model = build_chat_model("openai:gpt-4o", proxy_url=server.url, timeout=5, max_retries=0)
        run.model = model  # type: ignore[assignment]
        try:
            yield run, server
        finally:
            await close_chat_model(model)


def invalid_events(run: Bench) -> list[dict[str, object]]:
    return [e.data for e in run.journal.events if e.data.get("status") == "invalid"]


def last_answer(server: OpenAIServer) -> str:
    sent = server.asked[1]["messages"]
    assert isinstance(sent, list)
    return str(sent[-1]["content"])


WRONG = {
    "an invented tool": (
        call("remember", text="원 단위"),
        "invalid call of remember: there is no tool 'remember'",
    ),
    "a wrong type": (
        call("commit_to_memory", **{**MEMORY, "content": 12}),
        "invalid call of commit_to_memory: content is no text",
    ),
    "a wrong category": (
        BORED,
        "invalid call of no_action: category: 'bored' is none of 'noise', 'duplicate', ",
    ),
    "a field too many": (
        call("commit_to_memory", **MEMORY, colour="red"),
        "invalid call of commit_to_memory: colour is no known field",
    ),
    "cut JSON": (
        message(None, ("commit_to_memory", '{"content": "x')),
        "invalid call of commit_to_memory: the arguments of the call were not valid JSON",
    ),
    "JSON cut by the limit of tokens": (
        message(None, ("commit_to_memory", '{"content": "x'), stop="length"),
        "or were cut off; the answer was cut off at the model's limit of output tokens",
    ),
    "arguments that are no object": (
        message(None, ("commit_to_memory", "[1, 2]")),
        "invalid call of commit_to_memory: the arguments of the call were not valid JSON",
    ),
}


@pytest.mark.parametrize("wrong", WRONG)
async def test_a_wrong_call_is_answered_recorded_and_named(wrong: str) -> None:
    turn, said = WRONG[wrong]
    async with bench([turn, *[LOST] * 4]) as (run, server):
        verdict = await run.run()
        assert said in last_answer(server)
    assert verdict.status is VerdictStatus.FAILED
    assert verdict.reason.startswith("no_commit: invalid call of ")
    assert said in verdict.reason
    assert (
        "; the model kept answering in prose instead of calling a tool (4 times)" in verdict.reason
    )
    assert verdict.reason.endswith("its last words: “이제 그만하겠습니다.”")
    ((event),) = invalid_events(run)
    assert str(event["error"]).startswith("invalid call of ")
    finished = next(e for e in run.journal.events if e.name == "run.finished")
    assert finished.data["error"] == without_content(verdict.reason)


IDLE = {
    "a refusal": (
        message(None, refusal="도와드릴 수 없습니다."),
        "the model refused to answer (4 times); its last words: “도와드릴 수 없습니다.”",
    ),
    "a filter": (message("", stop="content_filter"), "the model refused to answer (4 times)"),
    "nothing": (message(""), "the model answered with nothing (4 times)"),
    "the limit": (
        message("생각해 보면", stop="length"),
        "the answer was cut off at the model's limit of output tokens (4 times);"
        " its last words: “생각해 보면”",
    ),
}


@pytest.mark.parametrize("idle", IDLE)
async def test_an_answer_without_a_call_is_named_by_its_kind(idle: str) -> None:
    turn, said = IDLE[idle]
    async with bench([turn] * 4) as (run, _):
        assert (await run.run()).reason == f"no_commit: {said}"


async def test_a_model_that_only_calls_wrongly_is_not_asked_for_ever() -> None:
    async with bench([BORED] * INVALID_TURNS) as (run, server):
        verdict = await run.run()
        assert await run.run() == verdict
        assert len(server.asked) == INVALID_TURNS
    assert f"'unclear' ({INVALID_TURNS} times); its last words: “no_action({{" in verdict.reason


async def test_calls_that_are_mended_leave_no_trace_in_the_outcome() -> None:
    wrong = call("commit_to_memory", content="x")
    invented = call("remember", text="x")
    async with bench([wrong, invented, COMMIT, DONE]) as (run, _):
        verdict = await run.run()
    assert (verdict.status, verdict.reason, verdict.refused) == ("completed", "기억했습니다.", ())
    assert len(invalid_events(run)) == 2


@pytest.mark.parametrize(
    ("usage", "read"),
    [
        ({"prompt_tokens": 10**20, "completion_tokens": 3}, (10_000_000, 3)),
        ({"prompt_tokens": "100", "completion_tokens": "many"}, (100, 0)),
        ({"prompt_tokens": 99.5, "completion_tokens": 2.0}, (100, 2)),
        ({"prompt_tokens": -5, "completion_tokens": float("nan")}, (0, 0)),
        ({"prompt_tokens": None, "completion_tokens": [1]}, (0, 0)),
    ],
)
async def test_odd_counts_of_tokens_cost_no_answer(
    usage: dict[str, object], read: tuple[int, int], capsys: pytest.CaptureFixture[str]
) -> None:
    async with bench(
        [message(None, ("commit_to_memory", json.dumps(MEMORY)), usage=usage), DONE]
    ) as (
        run,
        _,
    ):
        verdict = await run.run()
    assert verdict.status is VerdictStatus.COMPLETED
    assert "tokens.odd" in "".join(capsys.readouterr())
    tokens = (read[0] + 100, read[1] + 10)
    assert verdict.usage == Usage(model_calls=2, input_tokens=tokens[0], output_tokens=tokens[1])


async def test_a_call_that_cannot_be_stored_as_it_is_costs_no_run() -> None:
    odd = {f"field{n}": n for n in range(500)}
    turn = message(
        None, ("re\0member\ud83d", json.dumps(odd)), ("commit_to_memory", json.dumps(odd))
    )
    async with bench([turn, COMMIT, DONE]) as (run, _):
        verdict = await run.run()
    assert verdict.status is VerdictStatus.COMPLETED
    invented, wrong = invalid_events(run)
    assert invented["tool"] == "remember\ufffd"
    assert len(str(wrong["error"])) < 1100


async def test_a_number_too_large_for_the_saver_costs_no_run() -> None:
    far = call("search_similar_knowledge", content="x", limit=10**20)
    async with bench([far, COMMIT, DONE]) as (run, _):
        verdict = await run.run()
    assert [receipt.status for receipt in verdict.receipts] == [ReceiptStatus.APPLIED]
