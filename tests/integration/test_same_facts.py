"""A fact told in three wordings leaves one item, whatever the model wants."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from pydantic import JsonValue, SecretStr

from core.agent.offline.model import AnsweringChatModel
from core.app.program import App, open_app
from core.app.settings import Settings, load_settings
from core.domain.models import Agent, FeedbackStatus, KnowledgeItem, NewFeedback
from core.domain.text import read_fenced_json
from core.knowledge.duplicates import Known, evidence
from core.testing.scripted_model import calls, says
from tests.support import wordings_en, wordings_ko

CONCURRENCY = 6
Facts = Sequence[tuple[str, str, str]]


class Insisting(AnsweringChatModel):
    """Requests a new memory for each feedback, and asks twice more when it is refused.

    Then it reports it as known, as a model does that has read the refusal. It never claims that it
    is unrelated.
    """

    def answer(self, messages: list[BaseMessage], tools: Sequence[str]) -> AIMessage:
        said = [message for message in messages if isinstance(message, AIMessage)]
        last: dict[str, JsonValue] = json.loads(messages[-1].text) if said else {}
        call: tuple[str, dict[str, JsonValue]]
        if said and last.get("status") != "refused":
            return says("done")
        if len(said) < 3:
            given = {"operation": "CREATE", "relationship": ("COMPLEMENTS", "")[len(said) % 2]}
            call = ("commit_to_memory", {**given, "content": _told(messages), "reason": "new"})
        else:
            call = ("no_action", {"reason": "known", "category": "duplicate"})
        message = calls(call)
        return message.model_copy(
            update={"tool_calls": [{**message.tool_calls[0], "id": f"c{len(said)}"}]}
        )


def _told(messages: list[BaseMessage]) -> str:
    first = next(message for message in messages if isinstance(message, HumanMessage))
    data = read_fenced_json(first.text)
    assert isinstance(data, dict)
    assert isinstance(data["candidate"], dict)
    return str(data["candidate"]["content"])


@pytest.fixture
def settings(database: str, tmp_path: Path) -> Settings:
    return load_settings(
        {"skill_worker_home": tmp_path, "llm_model": "offline", "retry_base_seconds": 0.1},
        env_file=None,
    ).model_copy(update={"database_url": SecretStr(database)})


async def taught(settings: Settings, chat: BaseChatModel, wordings: list[str]) -> list[str]:
    """Let a worker learn wordings, all at once; return what is known then."""
    async with open_app(settings, model=True, chat=chat) as app:
        await app.stores.agents.save(Agent(id="a", tenant_id="t", name="A"))
        told = [NewFeedback(tenant_id="t", agent_ids=("a",), content=text) for text in wordings]
        await app.stores.inbox.add("test", told)
        await app.run(True, CONCURRENCY, asyncio.Event(), lambda _: None)
        counts = await app.stores.reader.counts()
        assert set(counts) <= {FeedbackStatus.COMPLETED, FeedbackStatus.NO_ACTION}, counts
        return [item.content for item in await known(app)]


async def known(app: App) -> Sequence[KnowledgeItem]:
    return await app.stores.knowledge.list(tenant_id="t", agent_id=None, kind=None)


@pytest.mark.parametrize(
    ("facts", "chat"),
    [
        pytest.param(wordings_ko.FACTS[::2], Insisting, id="ko-insisting"),
        pytest.param(wordings_ko.FACTS, Insisting, id="ko-all", marks=pytest.mark.nightly),
        pytest.param(wordings_en.FACTS, Insisting, id="en-insisting", marks=pytest.mark.nightly),
    ],
)
async def test_each_fact_is_known_once_however_often_and_however_it_is_told(
    settings: Settings, chat: Callable[[], BaseChatModel], facts: Facts
) -> None:
    wordings = [text for fact in facts for text in fact]
    items = await taught(settings, chat(), wordings)
    assert len(items) == len(facts), "\n".join(items)
    for fact in facts:
        assert any(evidence(fact[0], Known("", "", item)).similarity > 0.3 for item in items)
