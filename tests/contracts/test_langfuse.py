"""The source for Langfuse passes the suite of all sources, and reads what people say there."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from starlette.responses import JSONResponse

from core.adapters.embedded.http_server import run_server
from core.adapters.sources.langfuse import open_source
from core.domain.errors import ConfigurationError, SourceDown
from core.domain.models import FeedbackStatus, Outcome
from core.testing.contracts.source import SourceContract, SourceWorld
from core.testing.intake import MemoryDeliveries
from core.testing.stores import MemoryInbox
from tests.support.langfuse_server import KEYS, LangfuseServer
from tests.support.platform_world import PlatformWorld, with_sources


class World(PlatformWorld):
    """A project with people who comment, and sources on it."""

    def __init__(self, url: str, server: LangfuseServer) -> None:
        super().__init__({"url": url, "public_key": KEYS[0], "secret_key": KEYS[1]})
        self.server = server

    def say(self, content: str) -> None:
        self.server.comment(content, trace=f"trace of {content}")

    def told(self, content: str) -> bool | None:
        wanted = f"trace of {content}"
        for score in self.server.scores.values():
            if score["name"] == "skill-worker" and score["subject"]["id"] == wanted:  # type: ignore[index]
                return score["value"] == "done"
        return None


@pytest.fixture
async def world() -> AsyncIterator[World]:
    server = LangfuseServer()
    async with (
        run_server(server.app(), "127.0.0.1", 0) as url,
        with_sources(World(url, server), open_source) as world,
    ):
        yield world


class TestLangfuse(SourceContract):
    @pytest.fixture
    def world(self, world: World) -> SourceWorld:
        return world


async def test_what_people_write_is_feedback_and_numbers_alone_are_not(world: World) -> None:
    server = world.server
    server.most = 2  # all comes in pages
    server.traces["t1"] = {"id": "t1", "name": "invoice", "sessionId": "s1", "output": {"sum": 2.5}}
    server.score("n", "t1", value=0.2)
    server.score("w", "t1", value=0.2, comment="금액은 원화로", authorUserId="kim")
    server.score("e", "t1", value=0.1, comment="an evaluator's words", source="EVAL")
    server.score("x", "t1", value="Amounts in KRW", dataType="CORRECTION")
    of_observation = {"kind": "observation", "id": "o", "traceId": "t1"}
    server.score("o", value="Too long", dataType="TEXT", subject=of_observation)
    server.score("s", value="hm", dataType="TEXT", subject={"kind": "session", "id": "s1"})
    server.comment("Mind the date", "t1")
    server.comment("of a prompt", objectType="PROMPT")
    server.comment("  ")
    pieces = (await world.source().fetch(10)).pieces
    assert [(piece.content, piece.author) for piece in pieces] == [
        ("quality: 0.2\n금액은 원화로", "kim"),
        ("Amounts in KRW", None),
        ("Too long", None),
        ("Mind the date", "user-kim"),
    ]
    assert {(p.task, p.thread, str(p.output)) for p in pieces} == {
        ("invoice", "s1", "{'sum': 2.5}")
    }


async def test_an_edited_comment_is_a_new_piece_and_an_end_is_told_once(world: World) -> None:
    world.say("amounts in KRW")
    source = world.source()
    (before,) = (await source.fetch(10)).pieces
    await world.inbox.add(source.name, (before,))
    world.server.comments[0]["content"] = "amounts in USD"
    (after,) = (await source.fetch(10)).pieces
    assert (before.id != after.id, after.content) == (True, "amounts in USD")
    for status in (FeedbackStatus.FAILED, FeedbackStatus.COMPLETED):
        await source.acknowledge(str(after.id), Outcome(status=status))
    (told,) = world.server.scores.values()
    assert (told["value"], told["comment"]) == ("done", "completed")
    masked = ("secret.token×2", "personal_id.card×1")
    await source.acknowledge(str(after.id), Outcome(status=status, masked=masked))
    (told,) = world.server.scores.values()
    assert told["comment"] == "completed; masked: secret.token×2, personal_id.card×1"


@pytest.mark.parametrize(
    ("status", "error"), [(401, ConfigurationError), (503, SourceDown), (429, SourceDown)]
)
async def test_refusals_say_whether_they_pass(
    world: World, status: int, error: type[Exception]
) -> None:
    world.server.answers = [JSONResponse({"message": "no"}, status)]
    with pytest.raises(error, match=str(status)):
        await world.source().ping()


async def test_a_section_that_lacks_something_names_it() -> None:
    with pytest.raises(ConfigurationError, match=r"langfuse.*public_key"):
        async with open_source({"tenant": "t", "agents": ["a"]}, MemoryDeliveries(MemoryInbox())):
            pass
