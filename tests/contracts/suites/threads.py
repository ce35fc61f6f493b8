"""Contract of every reader of threads; a test class supplies `threads` over a `saver`."""

from __future__ import annotations

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver, empty_checkpoint
from pydantic import JsonValue

from core.agent.loop.transcript import TEXT_CHARS
from core.domain.models.views import Said, Speaker
from core.domain.ports import Threads
from core.domain.text import compact, fenced_json

Saver = BaseCheckpointSaver[str]
HIT: dict[str, JsonValue] = {
    "id": "m1",
    "kind": "MEMORY",
    "name": "통화",
    "excerpt": "원화로",
    "score": 0.5,
}


class ThreadsContract:
    """Tests for any reader of threads."""

    async def _kept(self, saver: Saver, thread: str, *messages: BaseMessage) -> None:
        config = RunnableConfig(configurable={"thread_id": thread, "checkpoint_ns": ""})
        checkpoint = empty_checkpoint()
        checkpoint["channel_values"] = {"messages": [*messages]}
        checkpoint["channel_versions"] = {"messages": "1"}
        await saver.aput(config, checkpoint, {}, {"messages": "1"})

    async def _said(self, saver: Saver, threads: Threads, *messages: BaseMessage) -> list[Said]:
        await self._kept(saver, "c:1", *messages)
        return [*(await threads.read("c:1") or ())]

    async def test_nothing_is_kept_of_what_is_unknown(self, threads: Threads) -> None:
        assert await threads.read("nothing:1") is None

    async def test_turns_calls_and_answers_are_told_with_their_keys(
        self, saver: Saver, threads: Threads
    ) -> None:
        call = {"name": "commit_to_memory", "args": {"content": "원화로"}, "id": "x"}
        start, turn, answer, end = await self._said(
            saver,
            threads,
            HumanMessage("begin", id="first"),
            AIMessage("적는다", tool_calls=[call]),
            ToolMessage("done", tool_call_id="x", name="commit_to_memory", status="error"),
            AIMessage("끝"),
        )
        assert (start.speaker, start.ordinal, start.text) == (Speaker.START, 0, "begin")
        assert (turn.speaker, turn.ordinal, turn.text) == (Speaker.MODEL, 1, "적는다")
        assert (turn.calls[0].key, turn.calls[0].arguments) == ("c:1:1:0", '{"content":"원화로"}')
        assert (answer.key, answer.tool, answer.failed) == ("c:1:1:0", "commit_to_memory", True)
        assert (end.speaker, end.ordinal) == (Speaker.MODEL, 2)

    async def test_hits_and_receipts_are_read(self, saver: Saver, threads: Threads) -> None:
        receipt = {"status": "held", "message": "it waits", "change_id": "c9"}
        related: JsonValue = {"related": [{**HIT, "on_agent": True}]}
        calls = [{"name": "a", "args": {}, "id": "x"}, {"name": "b", "args": {}, "id": "y"}]
        start, _, found, wrote = await self._said(
            saver,
            threads,
            HumanMessage(f"begin\n\n{fenced_json(related)}"),
            AIMessage("", tool_calls=calls),
            ToolMessage(compact({"hits": [HIT]}), tool_call_id="x", name="a"),
            ToolMessage("{}", tool_call_id="y", name="b", artifact=receipt),
        )
        assert [hit.id for hit in start.hits] == ["m1"]
        assert [hit.name for hit in found.hits] == ["통화"]
        assert wrote.receipt is not None
        assert wrote.receipt.change_id == "c9"

    async def test_long_texts_are_cut_and_say_so(self, saver: Saver, threads: Threads) -> None:
        text = "가" * (TEXT_CHARS + 1)
        call = {"name": "a", "args": {"content": text}, "id": "x"}
        start, turn = await self._said(
            saver, threads, HumanMessage(text), AIMessage("", tool_calls=[call])
        )
        assert (len(start.text), start.cut) == (TEXT_CHARS, True)
        assert (len(turn.calls[0].arguments), turn.calls[0].cut) == (TEXT_CHARS, True)
        assert not turn.cut

    async def test_nudges_and_calls_that_were_no_json_are_told(
        self, saver: Saver, threads: Threads
    ) -> None:
        bad = {"name": "a", "args": "{", "id": "x", "error": "cut off", "type": "invalid_tool_call"}
        _, turn, nudge = await self._said(
            saver,
            threads,
            HumanMessage("begin"),
            AIMessage("", invalid_tool_calls=[bad]),
            HumanMessage("act", id="nudge-1"),
        )
        assert (turn.calls[0].key, turn.calls[0].arguments) == ("c:1:1:x0", "{")
        assert (nudge.speaker, nudge.ordinal) == (Speaker.NUDGE, 1)
