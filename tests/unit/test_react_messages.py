"""What is made of a model's messages: stored safely, answered where wrong, counted and masked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    InvalidToolCall,
    ToolMessage,
)
from langchain_core.messages.tool import ToolCall

from core.agent.loop.middleware import (
    INVALID_TURNS,
    cases_told_in,
    has_outcome,
    hits_shown_in,
    is_call,
    is_ended_by_model,
    is_known_already,
    last_words_of,
    malformed_answers,
    nudge,
    nudges,
    problem_of,
    receipts_of,
    said_in,
    tidy,
)
from core.domain.errors import LeaseLost
from core.domain.models import Hit, Kind, Receipt, ReceiptStatus, VerdictStatus
from core.react_agent import process_feedback_with_react
from core.testing.scripted_model import calls, says
from tests.support.react import AGENT, CANDIDATE, FEEDBACK, MEMORY, Bench

KEY = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD"
COMMIT = calls(("commit_to_memory", MEMORY))


def call(name: str = "a", call_id: str | None = "x", **args: object) -> ToolCall:
    return ToolCall(name=name, args=args, id=call_id, type="tool_call")


def bad(
    name: str | None = "a", args: str | None = "{", call_id: str | None = "x"
) -> InvalidToolCall:
    return InvalidToolCall(
        name=name, args=args, id=call_id, error="cut off", type="invalid_tool_call"
    )


def answer(status: ReceiptStatus | None, call_id: str = "x", **given: object) -> ToolMessage:
    artifact = None
    if status is not None:
        made = Receipt.model_validate({"status": status, "message": "m", **given})
        artifact = made.model_dump(mode="json")
    return ToolMessage("said", tool_call_id=call_id, artifact=artifact)


def hit(item_id: str) -> Hit:
    return Hit(id=item_id, kind=Kind.MEMORY, name="n", excerpt="x", score=1)


REFUSED, APPLIED, NO_ACTION = (
    ReceiptStatus.REFUSED,
    ReceiptStatus.APPLIED,
    ReceiptStatus.NO_ACTION,
)


def test_receipts_of_a_thread_are_read_in_order() -> None:
    messages = [
        HumanMessage("x"), answer(REFUSED, hits=(hit("m1"), hit("m2")), broken=("c1",)),
        answer(None), answer(APPLIED, hits=(hit("m3"),), broken=("c2",)), AIMessage("x"),
    ]  # fmt: skip
    assert [one.status for one in receipts_of(messages)] == [REFUSED, APPLIED]
    assert hits_shown_in(messages) == {"m1", "m2"}
    assert cases_told_in(messages) == {"c1", "c2"}
    assert has_outcome(receipts_of(messages))
    assert not has_outcome(receipts_of(messages[:2]))
    assert not is_ended_by_model(receipts_of(messages))
    assert is_ended_by_model(receipts_of([answer(NO_ACTION)]))


@pytest.mark.parametrize(
    ("status", "category", "is_known"),
    [
        (NO_ACTION, "duplicate", True),
        (NO_ACTION, "noise", False),
        (REFUSED, "duplicate", False),
        (None, None, False),
    ],
)
def test_what_is_called_off_as_known_is_told_from_the_rest(
    status: ReceiptStatus | None, category: str | None, is_known: bool
) -> None:
    assert is_known_already(answer(status, category=category)) is is_known


def test_reminders_are_counted_by_their_ids() -> None:
    messages = [
        HumanMessage("begin", id="first"),
        nudge(1, "act"),
        HumanMessage("x"),
        nudge(2, "y"),
    ]
    assert (nudges(messages), nudges(messages[:1])) == (2, 0)
    assert (nudge(3, "now").text, nudge(3, "now").id) == ("now", "nudge-3")


def test_ids_are_unique_in_a_thread_whatever_a_provider_sends() -> None:
    earlier = [
        AIMessage(
            "", id="m1", tool_calls=[call(call_id="x")], invalid_tool_calls=[bad(call_id="y")]
        )
    ]
    turn = AIMessage(
        "", id="m1",
        tool_calls=[call(call_id="x"), call(call_id="new"), call(call_id="new")],
        invalid_tool_calls=[bad(call_id="y"), bad(call_id=None), bad(call_id="z")],
    )  # fmt: skip
    tidied = tidy(turn, earlier)
    assert tidied.id == "ai-2"
    assert [one["id"] for one in tidied.tool_calls] == ["call_2_0", "new", "call_2_2"]
    assert [one["id"] for one in tidied.invalid_tool_calls] == ["call_2_x0", "call_2_x1", "z"]
    assert tidy(AIMessage("x", id="m2"), earlier).id == "m2"


def test_names_and_arguments_become_what_can_be_stored() -> None:
    turn = AIMessage(
        "", tool_calls=[call("a\x00b", n=10**400)],
        invalid_tool_calls=[bad(None, None), bad("c\x00", "{\x00")],
        response_metadata={"n": 10**400, "stop": "x"},
    )  # fmt: skip
    tidied = tidy(turn, [])
    assert tidied.tool_calls[0]["name"] == "ab"
    assert isinstance(tidied.tool_calls[0]["args"], dict)
    assert [(one["name"], one["args"]) for one in tidied.invalid_tool_calls] == [
        ("unknown", ""), ("c", "{")
    ]  # fmt: skip
    assert tidied.response_metadata["stop"] == "x"
    assert tidied.response_metadata["n"] != 10**400


@pytest.mark.parametrize(
    ("turn", "content"),
    [
        (AIMessage(""), "(empty answer)"),
        (AIMessage(" \n"), "(empty answer)"),
        (AIMessage("", tool_calls=[call()]), ""),
        (AIMessage("", invalid_tool_calls=[bad()]), ""),
        (AIMessage("said\x00"), "said"),
        (
            AIMessage([{"type": "text", "text": "a\x00"}, {"type": "text", "text": "b"}]),
            [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}],
        ),
    ],
)
def test_no_message_is_empty_and_its_text_is_clean(turn: AIMessage, content: object) -> None:
    assert tidy(turn, []).content == content


def test_an_answer_is_told_in_words_or_by_its_calls() -> None:
    assert last_words_of(AIMessage("said", tool_calls=[call()])) == "said"
    both = AIMessage("", tool_calls=[call("a", n=1)], invalid_tool_calls=[bad("b", "{x")])
    assert last_words_of(both) == 'a({"n":1}), b({x)'
    assert (said_in(AIMessage("(empty answer)")), said_in(AIMessage("x"))) == ("", "x")
    assert [is_call(one) for one in (AIMessage("x"), AIMessage("", tool_calls=[call()]),
            AIMessage("", invalid_tool_calls=[bad()]))] == [False, True, True]  # fmt: skip


@pytest.mark.parametrize(
    ("stop", "is_cut"), [({"finish_reason": "length"}, True), ({"finish_reason": "stop"}, False)]
)
def test_a_call_that_is_no_json_is_answered_with_what_to_do(
    stop: dict[str, str], is_cut: bool
) -> None:
    turn = AIMessage("", invalid_tool_calls=[bad("n" * 200), bad(None, call_id=None)],
                     response_metadata=stop)  # fmt: skip
    first, second = malformed_answers(turn)
    assert (first.tool_call_id, first.name, first.status) == ("x", "n" * 200, "error")
    assert (second.tool_call_id, second.name) == ("", "unknown")
    assert "cut off. Call again with valid JSON" in first.text
    assert ("and shorter" in first.text) == is_cut
    problem = problem_of(first)
    assert problem is not None
    assert "n" * 99 + "…" in problem
    assert ("limit" in problem) == is_cut
    assert problem_of(AIMessage("x")) is None


def wrong(turns: int) -> list[AIMessage]:
    return [AIMessage("", tool_calls=[call("no_such_tool", f"w{n}")]) for n in range(turns)]


@pytest.mark.parametrize(
    ("script", "asked"),
    [
        (wrong(INVALID_TURNS), INVALID_TURNS),
        ([*wrong(INVALID_TURNS - 1), COMMIT, says("done")], INVALID_TURNS + 1),
        # A good call, or prose, in between: the count begins anew.
        ([*wrong(4), COMMIT, *wrong(INVALID_TURNS)], 5 + INVALID_TURNS),
        ([*wrong(4), says("x"), *wrong(INVALID_TURNS)], 5 + INVALID_TURNS),
    ],
)
async def test_a_model_that_never_calls_rightly_is_asked_no_more(
    script: Sequence[AIMessage], asked: int
) -> None:
    bench = Bench([*script, *wrong(3)])
    await bench.run()
    assert len(bench.model.seen) == asked


async def test_turns_of_which_one_call_was_right_count_as_right() -> None:
    both = AIMessage("", tool_calls=[call("no_such_tool", "w"), *COMMIT.tool_calls])
    bench = Bench([*[both.model_copy() for _ in range(INVALID_TURNS + 1)], says("done")])
    assert (await bench.run()).status is VerdictStatus.COMPLETED


async def test_secrets_are_masked_in_what_a_model_says_and_calls() -> None:
    memory = {**MEMORY, "content": f"the key is {KEY}", "memory_id": KEY}
    turn = AIMessage(
        f"I note {KEY}",
        tool_calls=[call("commit_to_memory", "x", **memory)],
        invalid_tool_calls=[bad("commit_to_memory", f'{{"content": "{KEY}', "y")],
    )
    bench = Bench([turn, says(f"noted {KEY}")])
    verdict = await bench.run()
    shown = bench.model.seen[1]
    told = next(one for one in shown if isinstance(one, AIMessage))
    assert KEY not in told.text
    assert "I note" in told.text
    (made,) = told.tool_calls
    assert KEY not in made["args"]["content"]
    assert made["args"]["memory_id"] == KEY  # an id names what it names
    assert KEY not in told.invalid_tool_calls[0]["args"]
    assert KEY not in verdict.reason
    parts = AIMessage([{"type": "text", "text": f"a {KEY}"}], tool_calls=COMMIT.tool_calls)
    listed = Bench([parts, says("done")])
    await listed.run()
    assert KEY not in str(listed.model.seen[1])


async def test_where_secrets_stay_a_model_is_told_what_it_said() -> None:
    bench = Bench([AIMessage(f"I note {KEY}", tool_calls=COMMIT.tool_calls), says("done")])
    deps = replace(bench.deps, keeps_raw=True)
    await bench.runs.start(bench.candidate, 1)
    with pytest.raises(LeaseLost):
        await run(bench, bench.candidate.epoch, deps)
    await run(bench, bench.candidate.epoch + 1, deps)
    assert any(KEY in one.text for one in bench.model.seen[1])


async def run(bench: Bench, epoch: int, deps: object) -> object:
    return await process_feedback_with_react(
        AGENT.id,
        FEEDBACK.content,
        candidate=CANDIDATE.model_copy(update={"epoch": epoch}),
        feedback=FEEDBACK,
        agent=AGENT,
        deps=deps,  # type: ignore[arg-type]
    )


def unanswered(messages: Sequence[BaseMessage]) -> int:
    return sum(problem_of(message) is not None for message in messages)


async def test_each_wrong_call_is_told_to_the_model_and_on_record() -> None:
    turn = AIMessage("", tool_calls=[call("no_such_tool", "w", x=1), call("commit_to_memory", "v")])
    bench = Bench([turn, COMMIT, says("done")])
    await bench.run()
    answers = [one for one in bench.model.seen[1] if isinstance(one, ToolMessage)]
    assert unanswered(answers) == 2
    assert "Call one of these: search_similar_knowledge, " in answers[0].text
    assert "Correct the call and make it again." in answers[1].text
    called = [event.data for event in bench.journal.events if event.name == "tool.called"]
    assert [(one["tool"], one["key"], one["status"]) for one in called] == [
        ("no_such_tool", "c1:1:1:0", "invalid"),
        ("commit_to_memory", "c1:1:1:1", "invalid"),
        ("commit_to_memory", "c1:1:2:0", "success"),
    ]
    assert all(one["error"] for one in called[:2])
    malformed = Bench([AIMessage("", invalid_tool_calls=[bad("a"), bad("b", call_id="y")]), COMMIT,
                       says("done")])  # fmt: skip
    await malformed.run()
    called = [event.data for event in malformed.journal.events if event.name == "tool.called"]
    assert [(one["tool"], one["key"]) for one in called[:2]] == [
        ("a", "c1:1:1:x0"), ("b", "c1:1:1:x1")
    ]  # fmt: skip
