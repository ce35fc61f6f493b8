"""The source for LangSmith passes the suite of all sources, and reads what people say there."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator

import pytest

from core.adapters.embedded.http_server import run_server
from core.adapters.sources.langsmith import open_source
from core.domain.errors import ConfigurationError
from core.domain.models import FeedbackStatus, Outcome
from core.testing.contracts.source import SourceContract, SourceWorld
from core.testing.intake import MemoryDeliveries
from tests.support.langsmith_server import KEY, LangSmithServer
from tests.support.platform_world import PlatformWorld, with_sources


class World(PlatformWorld):
    """A workspace with people who comment, and sources on it."""

    def __init__(self, url: str, server: LangSmithServer) -> None:
        super().__init__({"url": url, "api_key": KEY})
        self.server = server

    def say(self, content: str) -> None:
        self.server.give(content, comment=content)

    def told(self, content: str) -> bool | None:
        run_id = str(uuid.uuid5(uuid.NAMESPACE_URL, content))
        for one in self.server.feedback.values():
            if (one["key"], one["run_id"]) == ("skill-worker", run_id):
                return one["score"] == 1
        return None


@pytest.fixture
async def world() -> AsyncIterator[World]:
    server = LangSmithServer()
    async with (
        run_server(server.app(), "127.0.0.1", 0) as url,
        with_sources(World(url, server), open_source) as world,
    ):
        yield world


class TestLangSmith(SourceContract):
    @pytest.fixture
    def world(self, world: World) -> SourceWorld:
        return world


async def test_what_people_write_is_feedback_and_scores_alone_are_not(world: World) -> None:
    server = world.server
    for number in range(120):
        server.give("scored", score=number)
    server.give("judged", "model", comment="a model's words")
    server.give("invoice", score=0.0, comment="금액은 원화로")
    server.give("invoice", correction={"currency": "KRW"})
    pieces = (await world.source().fetch(10)).pieces
    assert [(p.content, p.author, p.task, p.thread) for p in pieces] == [
        ("correctness: 0.0\n금액은 원화로", "Kim", "invoice", "thread-1"),
        ('{"currency":"KRW"}', "Kim", "invoice", "thread-1"),
    ]


async def test_an_end_that_is_told_again_takes_the_place_of_the_first(world: World) -> None:
    world.say("amounts in KRW")
    source = world.source()
    ((piece),) = (await source.fetch(10)).pieces
    for status in (FeedbackStatus.FAILED, FeedbackStatus.COMPLETED):
        await source.acknowledge(str(piece.id), Outcome(status=status))
    assert (world.told("amounts in KRW"), world.server.patched) == (True, 1)
    masked = Outcome(status=status, masked=("secret.token×1",))
    await source.acknowledge(str(piece.id), masked)
    told = [one.get("comment") for one in world.server.feedback.values()]
    assert "masked: secret.token×1" in told


async def test_a_wrong_key_is_a_matter_of_configuration(world: World) -> None:
    section = {**world.section, "api_key": "wrong"}
    async with open_source(section, MemoryDeliveries(world.inbox)) as source:  # type: ignore[arg-type]
        with pytest.raises(ConfigurationError, match="401"):
            await source.ping()
