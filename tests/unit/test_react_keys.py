"""Idempotency keys and stored messages, whatever ids and text a provider sends."""

from __future__ import annotations

from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.messages.tool import ToolCall

from core.agent.loop.middleware import call_key, tidy
from core.testing.scripted_model import says
from tests.support.react import MEMORY, Bench


def _call(call_id: str | None, content: str = "x") -> ToolCall:
    args = MEMORY | {"content": content}
    return ToolCall(name="commit_to_memory", args=args, id=call_id, type="tool_call")


async def test_repeated_ids_in_a_message_are_made_unique_and_all_calls_run() -> None:
    turn = AIMessage("", tool_calls=[_call("same", "a"), _call("same", "b"), _call("same", "c")])
    bench = Bench([turn, says("끝")])
    verdict = await bench.run()
    assert bench.keys == ["c1:1:1:0", "c1:1:1:1", "c1:1:1:2"]
    assert len(verdict.receipts) == 3
    answered = [m.tool_call_id for m in bench.model.seen[1] if isinstance(m, ToolMessage)]
    assert answered == ["same", "call_1_1", "call_1_2"]


async def test_an_id_used_again_in_a_later_turn_has_a_key_of_its_own() -> None:
    turn = AIMessage("", tool_calls=[_call("call_0")], id="same-message-id")
    bench = Bench([turn, turn.model_copy(), says("끝")])
    await bench.run()
    assert bench.keys == ["c1:1:1:0", "c1:1:2:0"]


def test_empty_ids_become_ids() -> None:
    message = tidy(
        AIMessage("", tool_calls=[_call(None), _call("")]), [HumanMessage("x", id="feedback")]
    )
    assert [call["id"] for call in message.tool_calls] == ["call_1_0", "call_1_1"]
    assert message.id == "ai-1"


def test_keys_count_the_model_s_messages_and_the_calls_in_them() -> None:
    said = AIMessage("", tool_calls=[_call("a"), _call("b")])
    messages = [HumanMessage("x"), AIMessage("y"), HumanMessage("z"), said]
    assert call_key("c:3", messages, "b") == "c:3:2:1"


def test_text_that_no_store_takes_is_cleaned() -> None:
    message = AIMessage("a\x00b\ud83d", tool_calls=[_call("i", "한\ud800글\x00")])
    clean = tidy(message, [])
    assert clean.text == "ab\ufffd"
    assert clean.tool_calls[0]["args"]["content"] == "한\ufffd글"
