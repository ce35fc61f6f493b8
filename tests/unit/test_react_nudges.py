"""Unproductive answers: prose, malformed calls, unknown tools, too many turns."""

from __future__ import annotations

import pytest
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    InvalidToolCall,
    ToolMessage,
)

from core.domain.errors import RunFailed
from core.domain.models import ReceiptStatus, VerdictStatus
from core.testing.scripted_model import calls, says
from tests.support.react import MEMORY, Bench

COMMIT = calls(("commit_to_memory", MEMORY))
SEARCH = calls(("search_similar_knowledge", {"content": "원 단위"}))
PROSE = says("저장하겠습니다.")


def _nudges(messages: list[BaseMessage]) -> list[str]:
    return [m.text for m in messages[2:] if isinstance(m, HumanMessage)]


async def test_prose_without_an_outcome_is_nudged_in_three_steps() -> None:
    bench = Bench([PROSE, PROSE, PROSE, COMMIT, says("끝")])
    verdict = await bench.run()
    assert verdict.status is VerdictStatus.COMPLETED
    first, second, third = _nudges(bench.model.seen[3])
    assert "Use a tool" in first
    assert "commit_to_dmn_rule" in second
    assert "no_action" in second
    assert "required" in third


async def test_the_fourth_answer_in_prose_fails_the_run_as_no_commit() -> None:
    bench = Bench([PROSE] * 4)
    verdict = await bench.run()
    assert verdict.status is VerdictStatus.FAILED
    assert verdict.reason.startswith("no_commit: ")
    assert verdict.usage.model_calls == 4
    assert await bench.run() == verdict
    assert len(bench.model.seen) == 4


async def test_work_between_answers_in_prose_does_not_start_the_count_again() -> None:
    bench = Bench([PROSE, SEARCH, PROSE, SEARCH, PROSE, SEARCH, PROSE])
    assert (await bench.run()).reason.startswith("no_commit: ")


async def test_an_empty_answer_counts_as_prose_and_goes_back_as_text() -> None:
    bench = Bench([AIMessage(""), COMMIT, says("끝")])
    await bench.run()
    assert bench.model.seen[1][2].text == "(empty answer)"


async def test_malformed_arguments_are_answered_and_the_run_goes_on() -> None:
    broken = InvalidToolCall(
        name="commit_to_memory",
        args='{"content": "x',
        id="b1",
        error="cut off",
        type="invalid_tool_call",
    )
    bench = Bench([AIMessage("", invalid_tool_calls=[broken]), COMMIT, says("끝")])
    verdict = await bench.run()
    answer = bench.model.seen[1][-1]
    assert isinstance(answer, ToolMessage)
    assert (answer.tool_call_id, answer.status) == ("b1", "error")
    assert "not valid JSON" in answer.text
    assert verdict.status is VerdictStatus.COMPLETED


async def test_a_good_call_beside_a_malformed_one_is_executed() -> None:
    broken = InvalidToolCall(
        name="no_action", args="{", id=None, error=None, type="invalid_tool_call"
    )
    turn = COMMIT.model_copy(update={"invalid_tool_calls": [broken]})
    bench = Bench([turn, says("끝")])
    verdict = await bench.run()
    assert bench.keys == ["c1:1:1:0"]
    assert verdict.status is VerdictStatus.COMPLETED
    answered = [m.tool_call_id for m in bench.model.seen[1] if isinstance(m, ToolMessage)]
    assert answered == ["call_1_x0", "scripted-1"]


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (("commit_to_memory", {"content": "x"}), "operation"),
        (("commit_to_memory", MEMORY | {"colour": "red"}), "colour"),
        (("commit_to_memory", MEMORY | {"operation": "UPDATE"}), "memory_id"),
        (("commit_to_dmn_rule", {"operation": "DELETE", "reason": "r"}), "rule_id"),
        (("commit_to_skill", {"operation": "UPDATE", "skill_id": " ", "reason": "r"}), "skill_id"),
        (("attach_skills_to_agent", {"skill_ids": "", "reason": "r"}), "skill_ids"),
        (("remember", {}), "remember"),
    ],
)
async def test_a_wrong_call_is_told_what_is_wrong(call: tuple[str, dict], told: str) -> None:
    bench = Bench([calls(call), COMMIT, says("끝")])
    verdict = await bench.run()
    answer = bench.model.seen[1][-1]
    assert isinstance(answer, ToolMessage)
    assert answer.status == "error"
    assert told in answer.text
    assert bench.keys == ["c1:1:2:0"]
    assert verdict.status is VerdictStatus.COMPLETED


async def test_the_run_fails_when_its_model_calls_are_used_up() -> None:
    bench = Bench([SEARCH] * 5, max_iterations=5)
    verdict = await bench.run()
    assert verdict.status is VerdictStatus.FAILED
    assert verdict.reason.startswith("iterations: ")
    assert verdict.usage.model_calls == 5
    assert await bench.run() == verdict


async def test_fifty_model_calls_are_allowed() -> None:
    bench = Bench([*[SEARCH] * 48, COMMIT, says("끝")])
    verdict = await bench.run()
    assert verdict.status is VerdictStatus.COMPLETED
    assert verdict.usage.model_calls == 50


async def test_what_was_done_before_the_limit_stays_on_the_verdict() -> None:
    verdict = await Bench([COMMIT, SEARCH], max_iterations=2).run()
    assert verdict.status is VerdictStatus.FAILED
    assert [receipt.status for receipt in verdict.receipts] == [ReceiptStatus.APPLIED]


async def test_an_error_that_the_model_cannot_mend_ends_the_run() -> None:
    bench = Bench([COMMIT])
    bench.gate.fail_next(RunFailed("the author is misconfigured"), after=0)
    with pytest.raises(RunFailed, match="misconfigured"):
        await bench.run()
