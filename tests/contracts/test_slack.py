"""The source for Slack passes the suite of all sources, and reads what people say there."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from starlette.responses import JSONResponse

from core.adapters.embedded.http_server import run_server
from core.adapters.sources.slack import open_source
from core.domain.errors import ConfigurationError, SourceDown
from core.domain.models import FeedbackStatus, Outcome
from core.testing.contracts.source import SourceContract, SourceWorld
from tests.support.platform_world import PlatformWorld, with_sources
from tests.support.slack_server import BOT, CHANNEL, TOKEN, SlackServer


class World(PlatformWorld):
    """A channel in which an agent posts and people reply, and sources on it."""

    def __init__(self, url: str, server: SlackServer) -> None:
        where = {"url": f"{url}/api", "token": TOKEN, "channels": [CHANNEL]}
        super().__init__({**where, "agent_users": [BOT], "mark": "memo"})
        self.server = server

    def say(self, content: str) -> None:
        asked = self.server.post(f"answer to {content}")
        self.server.post(content, "UKIM", under=asked)

    def told(self, content: str) -> bool | None:
        found = self.server.reactions(content) & {"white_check_mark", "x"}
        return None if not found else found == {"white_check_mark"}


@pytest.fixture
async def world() -> AsyncIterator[World]:
    server = SlackServer()
    async with (
        run_server(server.app(), "127.0.0.1", 0) as url,
        with_sources(World(url, server), open_source) as world,
    ):
        yield world


class TestSlack(SourceContract):
    @pytest.fixture
    def world(self, world: World) -> SourceWorld:
        return world


async def test_replies_under_the_agent_and_marked_messages_are_feedback(world: World) -> None:
    server = world.server
    server.most = 2
    answer = server.post("총액은 $2.50입니다")
    server.post("금액은 원화로", "UKIM", under=answer)
    server.post("alright", BOT, under=answer)
    server.post("a person's own thread", "ULEE")
    marked = server.post("Invoices go out on Mondays", "ULEE")
    (found,) = [one for one in server.messages if one["ts"] == marked]
    found["reactions"] = [{"name": "memo", "users": ["UKIM"], "count": 1}]
    server.post("joined", "UNEW", subtype="channel_join")
    pieces = (await world.source().fetch(10)).pieces
    assert [(piece.content, piece.author, piece.output) for piece in pieces] == [
        ("금액은 원화로", "UKIM", "총액은 $2.50입니다"),
        ("Invoices go out on Mondays", "ULEE", None),
    ]
    assert pieces[0].thread == f"{CHANNEL}/{answer}"


async def test_an_end_takes_the_place_of_the_one_before(world: World) -> None:
    world.say("amounts in KRW")
    source = world.source()
    (piece,) = (await source.fetch(10)).pieces
    for status in (FeedbackStatus.FAILED, FeedbackStatus.COMPLETED, FeedbackStatus.COMPLETED):
        await source.acknowledge(str(piece.id), Outcome(status=status))
    assert world.server.reactions("amounts in KRW") == {"white_check_mark"}
    masked = Outcome(status=status, masked=("secret.token×1",))
    await source.acknowledge(str(piece.id), masked)
    assert world.server.reactions("amounts in KRW") == {"white_check_mark", "see_no_evil"}


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (JSONResponse({"ok": False, "error": "invalid_auth"}), ConfigurationError),
        (JSONResponse({"ok": False, "error": "ratelimited"}), SourceDown),
        (JSONResponse({}, 429, {"Retry-After": "30"}), SourceDown),
    ],
)
async def test_refusals_say_whether_they_pass(
    world: World, answer: JSONResponse, error: type[Exception]
) -> None:
    world.server.answers = [answer]
    with pytest.raises(error):
        await world.source().ping()
