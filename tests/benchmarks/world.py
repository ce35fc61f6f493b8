"""What the benchmarks share: a throw-away home, an opened app, feedback, a delayed model."""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult

from core.agent.offline.model import AnsweringChatModel
from core.app.program import App, open_app, spare_collections
from core.app.settings import Override, Settings, load_settings
from core.domain.models import Agent, NewFeedback
from core.testing.scripted_model import calls, says

TENANT = "benchmark"
AGENT = "bench-agent"
COMMIT = "commit_to_memory"


# The facts differ in little more than their number.
NEW = {"operation": "CREATE", "relationship": "UNRELATED", "reason": "another customer's"}


class TwoTurnModel(AnsweringChatModel):
    """Learns a memory of its own in one call, and ends with prose in the next."""

    delay: float = 0.0

    def answer(self, messages: list[BaseMessage], tools: Sequence[str]) -> AIMessage:
        if isinstance(messages[-1], ToolMessage):
            return says("반영했습니다.")
        first = next(m for m in messages if isinstance(m, HumanMessage))
        content = f"fact {hash(first.text):x}"
        message = calls((COMMIT, {"content": content, **NEW}))
        call = {**message.tool_calls[0], "id": f"call-{content}"}
        return message.model_copy(update={"tool_calls": [call]})

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        tool_names: Sequence[str] = (),
        **kwargs: object,
    ) -> ChatResult:
        if self.delay:
            await asyncio.sleep(self.delay)
        message = self.answer(messages, tool_names)
        return ChatResult(generations=[ChatGeneration(message=message)])


def settings(home: Path, **more: Override) -> Settings:
    """Return settings of a throw-away home, whatever the environment says; `more` overrides."""
    given: dict[str, Override] = {
        "skill_worker_home": home,
        "llm_model": "offline",
        "log_level": "error",
    }
    given |= {"database_url": None, "skill_api_base_url": None, "mcp_server_url": None}
    return load_settings(given | more, env_file=None)


@asynccontextmanager
async def opened(chat: BaseChatModel) -> AsyncIterator[App]:
    """Open an app with the given model in a throw-away home, with one agent."""
    from core.app.observability import configure_logging

    configure_logging("error", "console")
    with tempfile.TemporaryDirectory(prefix="skill-worker-bench-") as home:
        async with open_app(settings(Path(home)), model=True, chat=chat) as app:
            await app.stores.agents.save(
                Agent(id=AGENT, tenant_id=TENANT, name="Bench", role="clerk")
            )
            spare_collections()  # as `run` does
            yield app


def pieces(count: int, start: int = 0) -> list[NewFeedback]:
    """Return pieces of feedback with distinct content."""
    numbers = range(start, start + count)
    return [
        NewFeedback(
            id=f"b-{n}",
            tenant_id=TENANT,
            agent_ids=(AGENT,),
            content=f"고객 {n}번은 금액을 소수점 없이 원화로 받기를 원합니다 (no {n * 7919}).",
        )
        for n in numbers
    ]


async def drain(app: App, concurrency: int) -> None:
    """Work until nothing is left; everything must have been learnt."""
    await app.run(True, concurrency, asyncio.Event(), _ignore)
    counts = await app.stores.reader.counts()
    assert set(counts) == {"completed"}, f"not all was learnt: {counts}"


def _ignore(_counts: Mapping[str, int]) -> None:
    return None


def resident_bytes(pid: int | None = None) -> int:
    """Return the resident memory of a process, in bytes."""
    text = Path(f"/proc/{pid or os.getpid()}/statm").read_text()
    return int(text.split()[1]) * os.sysconf("SC_PAGE_SIZE")
