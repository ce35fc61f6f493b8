"""Contract of every source of feedback; a test class supplies `world`: a platform and a source.

class TestMySource(SourceContract):
    @pytest.fixture
    def world(self) -> SourceWorld: ...
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import pytest

from core.domain.models import FeedbackStatus, Fetched, Outcome
from core.domain.ports import FeedbackSource
from core.testing.stores import MemoryInbox

DONE = Outcome(status=FeedbackStatus.COMPLETED)
HELD = Outcome(status=FeedbackStatus.HELD)
NOTHING = Outcome(status=FeedbackStatus.NO_ACTION)
CANCELLED = Outcome(status=FeedbackStatus.CANCELLED, error="not wanted")
FAILED = Outcome(status=FeedbackStatus.FAILED, error="it broke")
DEAD = Outcome(status=FeedbackStatus.DEAD, error="gave up")
SAID = ("금액은 원화로 👩‍💻 𠀀", 'second, "quoted" \\ and/slashed', "third\nline")


class SourceWorld(Protocol):
    """A platform with users, and the inbox that its feedback goes to."""

    @property
    def inbox(self) -> MemoryInbox:
        """The inbox, which a source may ask for known feedback."""

    def source(self) -> FeedbackSource:
        """Return a source as a worker has it: two of them are two workers on one platform."""

    def say(self, content: str) -> None:
        """Add feedback of a user, later than all before."""

    def told(self, content: str) -> bool | None:
        """Return whether the platform was told of success, of failure, or of nothing yet."""


class SourceContract:
    """Tests for any source."""

    async def test_a_source_has_a_name_and_answers(self, world: SourceWorld) -> None:
        source = world.source()
        assert source.name
        await source.ping()
        assert await source.fetch(10) == Fetched()

    async def test_what_was_said_is_given_verbatim_oldest_first(self, world: SourceWorld) -> None:
        for content in SAID:
            world.say(content)
        pieces = (await world.source().fetch(10)).pieces
        assert tuple(piece.content for piece in pieces) == SAID
        assert len({piece.id for piece in pieces if piece.id}) == len(SAID)
        assert all(piece.tenant_id and piece.agent_ids for piece in pieces)

    async def test_agents_that_come_along_are_those_of_the_pieces(self, world: SourceWorld) -> None:
        world.say("one")
        fetched = await world.source().fetch(10)
        named = {(p.tenant_id, agent_id) for p in fetched.pieces for agent_id in p.agent_ids}
        assert {(agent.tenant_id, agent.id) for agent in fetched.agents} <= named

    async def test_what_a_worker_fetched_and_did_not_store_is_given_again(
        self, world: SourceWorld
    ) -> None:
        world.say("one")
        before = await world.source().fetch(10)
        assert (await world.source().fetch(10)).pieces == before.pieces != ()

    async def test_two_workers_that_fetch_the_same_store_it_once(self, world: SourceWorld) -> None:
        world.say("one")
        first, second = world.source(), world.source()
        fetched = [await first.fetch(10), await second.fetch(10)]
        await _store(world, first, fetched[0])
        await _store(world, second, fetched[1])
        assert _contents(world) == ["one"]
        await _end(world, first, DONE)
        assert world.told("one") is True

    async def test_a_worker_that_dies_before_it_tells_the_source_loses_nothing(
        self, world: SourceWorld
    ) -> None:
        world.say("one")
        dead = world.source()
        await world.inbox.add(dead.name, (await dead.fetch(10)).pieces)
        other = world.source()
        await _store(world, other, await other.fetch(10))
        await _end(world, other, DONE)
        assert _contents(world) == ["one"]
        assert world.told("one") is True

    async def test_nothing_is_told_before_the_end(self, world: SourceWorld) -> None:
        world.say("one")
        await _take(world, world.source())
        assert world.told("one") is None

    @pytest.mark.parametrize(
        ("outcome", "success"),
        [
            (DONE, True),
            (NOTHING, True),
            (HELD, True),
            (CANCELLED, True),
            (FAILED, False),
            (DEAD, False),
        ],
        ids=lambda value: value.status if isinstance(value, Outcome) else "",
    )
    async def test_each_end_is_told(
        self, world: SourceWorld, outcome: Outcome, success: bool
    ) -> None:
        world.say("원화로")
        source = world.source()
        await _take(world, source)
        await _end(world, source, outcome)
        assert world.told("원화로") is success

    async def test_telling_twice_changes_nothing(self, world: SourceWorld) -> None:
        world.say("one")
        source = world.source()
        fetched = await source.fetch(10)
        await _store(world, source, fetched)
        await source.accept(fetched.pieces)
        await _end(world, source, FAILED)
        await _tell(world, source)
        await source.accept(fetched.pieces)
        assert world.told("one") is False
        assert await _new(world, source) == []

    async def test_what_is_told_is_not_given_again(self, world: SourceWorld) -> None:
        world.say("one")
        source = world.source()
        await _take(world, source)
        await _end(world, source, DONE)
        world.say("two")
        assert await _new(world, source) == ["two"]

    async def test_what_is_said_meanwhile_is_given_next(self, world: SourceWorld) -> None:
        world.say("one")
        source = world.source()
        await _take(world, source)
        world.say("two")
        assert await _new(world, source) == ["two"]
        await _take(world, source)
        await _end(world, source, DONE)
        assert (world.told("one"), world.told("two")) == (True, True)

    async def test_a_small_limit_starves_nothing(self, world: SourceWorld) -> None:
        for number in range(5):
            world.say(f"number {number}")
        source = world.source()
        for _ in range(5):
            await _take(world, source, limit=1)
            await _end(world, source, DONE)
        assert sorted(_contents(world)) == [f"number {number}" for number in range(5)]
        assert all(world.told(f"number {number}") for number in range(5))

    async def test_a_record_that_is_gone_needs_to_be_told_nothing(self, world: SourceWorld) -> None:
        await world.source().acknowledge('gone, "for" good/0123', DONE)


def _contents(world: SourceWorld) -> list[str]:
    return [piece.content for piece in world.inbox.feedback.values()]


async def _store(world: SourceWorld, source: FeedbackSource, fetched: Fetched) -> None:
    await world.inbox.add(source.name, fetched.pieces)
    await source.accept(fetched.pieces)


async def _take(world: SourceWorld, source: FeedbackSource, limit: int = 10) -> None:
    await _store(world, source, await source.fetch(limit))


async def _new(world: SourceWorld, source: FeedbackSource) -> Sequence[str]:
    """Return what a fetch brings that is not in the inbox yet."""
    known = {piece.source_id for piece in world.inbox.feedback.values()}
    return [piece.content for piece in (await source.fetch(10)).pieces if piece.id not in known]


async def _end(world: SourceWorld, source: FeedbackSource, outcome: Outcome) -> None:
    """Finish all unfinished pieces with this outcome, and acknowledge every outcome."""
    for piece in list(world.inbox.feedback.values()):
        claimed = await world.inbox.claim(piece.id)
        if claimed is not None:
            await world.inbox.finish(claimed, outcome)
    await _tell(world, source)


async def _tell(world: SourceWorld, source: FeedbackSource) -> None:
    for piece in list(world.inbox.feedback.values()):
        await source.acknowledge(piece.source_id, Outcome(status=piece.status, error=piece.error))
