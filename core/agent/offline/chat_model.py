"""A base for chat models that compute their answers: tools bound by name, no network."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool
from pydantic import JsonValue


class AnsweringChatModel(BaseChatModel):
    """Adapts `answer(messages, tools)` to LangChain's chat model protocol."""

    @abstractmethod
    def answer(self, messages: list[BaseMessage], tools: Sequence[str]) -> AIMessage:
        """Return the next message; `tools` are the names of the bound tools."""

    @property
    def _llm_type(self) -> str:
        return type(self).__name__

    def bind_tools(
        self,
        tools: Sequence[dict[str, JsonValue] | type | Callable[..., object] | BaseTool],
        *,
        tool_choice: str | None = None,  # noqa: ARG002
        **kwargs: object,  # noqa: ARG002
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """Bind tools by name, all that `answer` needs."""
        return self.bind(tool_names=[_name(tool) for tool in tools])

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,  # noqa: ARG002
        run_manager: CallbackManagerForLLMRun | None = None,  # noqa: ARG002
        tool_names: Sequence[str] = (),
        **kwargs: object,  # noqa: ARG002
    ) -> ChatResult:
        message = self.answer(messages, tool_names)
        return ChatResult(generations=[ChatGeneration(message=message)])

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,  # noqa: ARG002
        tool_names: Sequence[str] = (),
        **kwargs: object,  # noqa: ARG002
    ) -> ChatResult:
        return self._generate(messages, stop, None, tool_names)


def _name(tool: object) -> str:
    if isinstance(tool, dict):
        return str(tool.get("function", tool).get("name"))
    return str(getattr(tool, "name", getattr(tool, "__name__", "")))
