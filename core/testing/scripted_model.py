"""A chat model that plays a script and records what it was shown."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count

from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.messages.tool import ToolCall
from pydantic import JsonValue, PrivateAttr

from core.agent.offline.model import AnsweringChatModel

Turn = AIMessage | Exception | Callable[[list[BaseMessage]], AIMessage]
_USAGE = UsageMetadata(input_tokens=100, output_tokens=10, total_tokens=110)


def says(text: str) -> AIMessage:
    """Return a prose answer."""
    return AIMessage(text, usage_metadata=_USAGE)


def calls(*wanted: tuple[str, dict[str, JsonValue]], text: str = "") -> AIMessage:
    """Return a message with tool calls, each (name, arguments); ids are assigned when played."""
    made = [ToolCall(name=name, args=args, id="", type="tool_call") for name, args in wanted]
    return AIMessage(text, tool_calls=made, usage_metadata=_USAGE)


class ScriptedChatModel(AnsweringChatModel):
    """Play `script` turn by turn; running out of it fails the test."""

    _script: list[Turn] = PrivateAttr(default_factory=list)
    _seen: list[list[BaseMessage]] = PrivateAttr(default_factory=list)
    _tools: list[str] = PrivateAttr(default_factory=list)
    _ids: count[int] = PrivateAttr(default_factory=lambda: count(1))

    def __init__(self, script: Sequence[Turn]) -> None:
        super().__init__()
        self._script = list(script)

    @property
    def seen(self) -> list[list[BaseMessage]]:
        """The messages of each call so far."""
        return self._seen

    @property
    def tools(self) -> list[str]:
        """The names of the tools bound at the last call."""
        return self._tools

    def answer(self, messages: list[BaseMessage], tools: Sequence[str]) -> AIMessage:
        """Play the next turn."""
        self._seen.append(list(messages))
        self._tools = list(tools)
        if not self._script:
            raise AssertionError("the script has no turn left")
        turn = self._script.pop(0)
        if isinstance(turn, Exception):
            raise turn
        message = turn if isinstance(turn, AIMessage) else turn(messages)
        named = [
            ToolCall(**{**call, "id": call["id"] or f"scripted-{next(self._ids)}"})
            for call in message.tool_calls
        ]
        return message.model_copy(update={"tool_calls": named})
