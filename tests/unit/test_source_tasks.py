"""Polling of sources: a failing one stops no other, and every outcome is acknowledged in time."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from starlette.responses import JSONResponse

from core.domain.errors import DependencyDown, SkillWorkerError, SourceDown
from core.domain.models import Agent, FeedbackStatus, NewFeedback, Outcome
from core.polling_manager import SourcePoller, acknowledge_end, fetch_feedback_task
from tests.support.list_source import ListSource
from tests.support.supabase import Supabase, supabase

DONE = Outcome(status=FeedbackStatus.COMPLETED)


def _piece(id_: str, content: str = "원화로", tenant_id: str = "acme") -> NewFeedback:
    return NewFeedback(id=id_, tenant_id=tenant_id, agent_ids=("clerk",), content=content)


@pytest.fixture
async def world() -> AsyncIterator[Supabase]:
    async with supabase() as opened:
        yield opened


async def test_agents_are_saved_before_their_pieces_are_stored(world: Supabase) -> None:
    agent = Agent(id="clerk", tenant_id="acme", name="주문 담당")
    source = ListSource(_piece("1"), agents=[agent])
    assert await fetch_feedback_task(source, limit=10, deps=world) == 1
    assert await world.agents.get("acme", "clerk") == agent
    assert source.accepted == ["1"]


async def test_an_id_that_another_tenant_has_is_taken_for_ones_own(world: Supabase) -> None:
    others = Agent(id="clerk", tenant_id="other", name="theirs")
    await world.agents.save(others)
    mine = Agent(id="clerk", tenant_id="acme", name="clerk")
    source = ListSource(_piece("1"), agents=[mine])
    assert await fetch_feedback_task(source, limit=10, deps=world) == 1
    assert await world.agents.of_id("clerk") == [mine, others]


async def test_a_piece_that_cannot_be_stored_is_told_as_failed(world: Supabase) -> None:
    source = ListSource(_piece("bad", "NUL \0"), _piece("good"))
    assert await fetch_feedback_task(source, limit=10, deps=world) == 1
    assert source.accepted == ["good"]
    assert source.told == [("bad", FeedbackStatus.FAILED)]


async def test_an_end_that_the_source_did_not_take_is_repeated(world: Supabase) -> None:
    world.sources["supabase"] = world.source()
    world.todo("r1", [world.item("one")])
    await world.fetch()
    (ended,) = await world.end(DONE)
    world.server.answers.append(JSONResponse({"message": "down"}, 503))
    await acknowledge_end(ended, DONE, world)
    assert world.status("r1") == "PROCESSING"
    assert await world.acknowledge() == 1
    assert world.status("r1") == "COMPLETED"
    assert await world.acknowledge() == 0


async def test_an_end_that_the_source_took_is_not_repeated(world: Supabase) -> None:
    world.sources["supabase"] = world.source()
    world.todo("r1", [world.item("one")])
    await world.fetch()
    (ended,) = await world.end(DONE)
    await acknowledge_end(
        ended.model_copy(update={"status": FeedbackStatus.PROCESSING}), DONE, world
    )
    assert (world.status("r1"), await world.acknowledge()) == ("COMPLETED", 0)


async def test_an_end_says_what_was_masked_and_never_the_secret(world: Supabase) -> None:
    token = "ghp_" + "aB3dE5gH7jK9mN1pQ3sT5vX7zA9cE1gI3kM5"
    source = ListSource(_piece("1", f"use {token} and {token[::-1]}, 비밀번호: hunter2!77"))
    world.sources["list"] = source
    await fetch_feedback_task(source, limit=10, deps=world)
    (ended,) = await world.end(DONE)
    await acknowledge_end(ended, DONE, world)
    assert source.masked == ["secret.api_key×2", "secret.password×1"]


@pytest.mark.parametrize("error", [SourceDown("down"), ZeroDivisionError("bug")])
async def test_telling_an_end_never_fails_the_feedback(world: Supabase, error: Exception) -> None:
    source = ListSource(_piece("1"))
    world.sources["list"] = source
    await fetch_feedback_task(source, limit=10, deps=world)
    (ended,) = await world.end(DONE)
    source.error = error
    await acknowledge_end(ended, DONE, world)
    assert [one.id for one in await world.deliveries.unacknowledged("list", 10)] == [ended.id]


@pytest.mark.parametrize("error", [SourceDown("down"), ZeroDivisionError("bug")])
async def test_one_source_that_fails_stops_no_other(world: Supabase, error: Exception) -> None:
    broken, sound = ListSource(name="broken"), ListSource(_piece("1"), name="sound")
    broken.error = error
    world.sources.update({"broken": broken, "sound": sound})
    assert await SourcePoller(world).poll(10) == 1
    assert sound.accepted == ["1"]


async def test_what_failed_is_kept_until_a_round_succeeds(world: Supabase) -> None:
    source = ListSource()
    world.sources["list"] = source
    poller = SourcePoller(world)
    source.error = failure = SourceDown("down")
    await poller.poll(10)
    assert poller.failures == {"list": failure}
    source.error = None
    await poller.poll(10)
    assert poller.failures == {}


async def test_a_source_that_asks_for_a_pause_is_left_alone_until_it_is_over(
    world: Supabase,
) -> None:
    now = 100.0
    source = ListSource(_piece("1"))
    world.sources["list"] = source
    poller = SourcePoller(world, clock=lambda: now)
    source.error = SourceDown("busy", retry_after=30)
    assert await poller.poll(10) == 0
    source.error = None
    now = 129.0
    assert await poller.poll(10) == 0
    now = 130.0
    assert await poller.poll(10) == 1


async def test_one_end_that_cannot_be_told_does_not_hide_the_next(world: Supabase) -> None:
    class Picky(ListSource):
        async def acknowledge(self, source_id: str, outcome: Outcome) -> None:
            if source_id == "1":
                raise SkillWorkerError("I do not know it")
            await super().acknowledge(source_id, outcome)

    source = Picky(_piece("1"), _piece("2"))
    world.sources["list"] = source
    await fetch_feedback_task(source, limit=10, deps=world)
    await world.end(DONE)
    await SourcePoller(world).acknowledge(10)
    assert [id_ for id_, _ in source.told] == ["2"]


async def test_a_dead_source_is_asked_once_a_round(world: Supabase) -> None:
    source = ListSource(_piece("1"), _piece("2"))
    world.sources["list"] = source
    await fetch_feedback_task(source, limit=10, deps=world)
    await world.end(DONE)
    asked: list[str] = []

    async def refuse(source_id: str, outcome: Outcome) -> None:
        asked.append(source_id)
        raise DependencyDown("down")

    source.acknowledge = refuse  # type: ignore[method-assign]
    await SourcePoller(world).acknowledge(10)
    assert asked == ["1"]


async def test_one_end_that_the_source_breaks_on_does_not_hide_the_next(world: Supabase) -> None:
    class Breaking(ListSource):
        async def acknowledge(self, source_id: str, outcome: Outcome) -> None:
            if source_id == "1":
                raise DependencyDown("500")
            await super().acknowledge(source_id, outcome)

    source = Breaking(_piece("1"), _piece("2"))
    world.sources["list"] = source
    await fetch_feedback_task(source, limit=10, deps=world)
    await world.end(DONE)
    poller = SourcePoller(world)
    source.fetched = source.fetched.model_copy(update={"pieces": (_piece("3"),)})
    assert await poller.poll(10) == 1
    await poller.acknowledge(10)
    assert [id_ for id_, _ in source.told] == ["2"]
