"""EMBEDDING_MODEL=local, whole: the real model in this process, a real PostgreSQL, no key."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from langchain_core.messages import AIMessage, BaseMessage
from pydantic import JsonValue, SecretStr
from structlog.testing import capture_logs

from core.agent.local_embeddings import local_vectors
from core.agent.offline.model import AnsweringChatModel
from core.app.program import App, open_app
from core.app.settings import Settings, load_settings
from core.domain.models import Agent, NewFeedback
from core.testing.scripted_model import calls, says
from tests.support.databases import migrate_vectors
from tests.support.embedding_server import embedding_server
from tests.support.meaning import needs_the_model

CHOI, CHOI_IN_KOREAN = "Ms. Choi wants PDF only.", "최 과장님은 PDF만 받으십니다."
BOTH = "Ms. Choi (최 과장님) wants PDF only."

pytestmark = needs_the_model


@pytest.fixture
async def settings(database: str, tmp_path: Path) -> Settings:
    await migrate_vectors(database)
    given = {"skill_worker_home": tmp_path, "llm_model": "offline", "embedding_model": "local"}
    loaded = load_settings(given, env_file=None)
    return loaded.model_copy(update={"database_url": SecretStr(database)})


class Merging(AnsweringChatModel):
    """Asks for a new memory; where one is near, writes one text of both in its place."""

    def answer(self, messages: list[BaseMessage], tools: Sequence[str]) -> AIMessage:
        said = sum(isinstance(message, AIMessage) for message in messages)
        if not said:
            told = "\n".join(str(message.text) for message in messages)
            content = CHOI_IN_KOREAN if CHOI_IN_KOREAN in told else CHOI
            given = {"operation": "CREATE", "content": content, "reason": "new"}
            return self._call(said, given)
        last: dict[str, JsonValue] = json.loads(str(messages[-1].text))
        if last["status"] != "refused":
            return says("done")
        (known,) = [hit for hit in _list(last["hits"]) if isinstance(hit, dict)]
        update = {"operation": "UPDATE", "memory_id": known["id"], "content": BOTH}
        how = {"merge_mode": "REPLACE", "relationship": "EXTENDS", "reason": "the same"}
        return self._call(said, update | how)

    def _call(self, number: int, given: dict[str, JsonValue]) -> AIMessage:
        message = calls(("commit_to_memory", given))
        call = {**message.tool_calls[0], "id": f"c{number}"}
        return message.model_copy(update={"tool_calls": [call]})


def _list(value: JsonValue) -> list[JsonValue]:
    return value if isinstance(value, list) else []


async def tell(app: App, *texts: str) -> None:
    """Let a worker learn feedback, then make the vectors of what it learnt."""
    await app.stores.agents.save(Agent(id="a", tenant_id="t", name="A"))
    told = [NewFeedback(tenant_id="t", agent_ids=("a",), content=text) for text in texts]
    await app.stores.inbox.add("test", told)
    await app.run(True, 1, asyncio.Event(), lambda _: None)


async def known(app: App) -> list[str]:
    items = await app.stores.knowledge.list(tenant_id="t", agent_id=None, kind=None)
    return [item.content for item in items]


async def test_one_fact_in_two_languages_becomes_one_memory(settings: Settings) -> None:
    async with open_app(settings, model=True, chat=Merging()) as app:
        await tell(app, CHOI)
        await tell(app, CHOI_IN_KOREAN)
        assert await known(app) == [BOTH]


async def test_offline_finds_by_meaning_and_announces_another_model(settings: Settings) -> None:
    async with embedding_server() as server:
        there = {"embedding_model": "openai:small", "llm_proxy_url": server.url}
        async with open_app(settings.model_copy(update=there), model=True, chat=Merging()) as app:
            await tell(app, CHOI)
    with capture_logs() as logs:
        async with open_app(settings, model=True, offline=True) as app:
            assert app.vectors is not None
            assert (await app.vectors.backlog()).waiting == 1
            await app.run(True, 1, asyncio.Event(), lambda _: None)
            (hit,) = await app.stores.search.search(
                "최 과장님은 어떤 파일을 원하나요", tenant_id="t", agent_id="a", kind=None, limit=1
            )
            assert hit.why == "close in meaning"
            assert (await app.vectors.backlog()).waiting == 0
    (said,) = [entry for entry in logs if entry["event"] == "embeddings.model_differs"]
    assert (said["model"], said["others"]) == (local_vectors(), ["openai:small"])
