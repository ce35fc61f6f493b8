"""Rounds of sources: what is fetched and told, and what a failure leaves for the next round."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import cast

import pytest
import structlog.testing

from core.domain.errors import (
    ConfigurationError,
    DependencyDown,
    InvalidInput,
    ScreenDown,
    SourceDown,
)
from core.domain.models import (
    Agent,
    Feedback,
    FeedbackStatus,
    Fetched,
    NewFeedback,
    Outcome,
)
from core.polling_manager import (
    SourceDeps,
    SourcePoller,
    acknowledge_end,
    acknowledge_task,
    fetch_feedback_task,
)
from tests.support.react import FEEDBACK

AGENT = Agent(id="a", tenant_id="t", name="A")


def piece(source_id: str | None = "1", content: str = "x") -> NewFeedback:
    return NewFeedback(id=source_id, tenant_id="t", agent_ids=("a",), content=content)


def ended(source_id: str, status: FeedbackStatus = FeedbackStatus.COMPLETED) -> Feedback:
    given = {"id": f"f{source_id}", "source_id": source_id, "source": "one", "status": status}
    return FEEDBACK.model_copy(update=given)


class Source:
    """A source; `errors` are raised by the name of a call, or of the piece it is told of."""

    def __init__(self, name: str = "one", *pieces: NewFeedback) -> None:
        self.name = name
        self.pieces = pieces
        self.agents: tuple[Agent, ...] = ()
        self.errors: dict[str, Exception] = {}
        self.did: list[object] = []

    def _may(self, what: str) -> None:
        if what in self.errors:
            raise self.errors[what]

    async def fetch(self, limit: int) -> Fetched:
        self.did.append(("fetch", limit))
        self._may("fetch")
        return Fetched(agents=self.agents, pieces=self.pieces)

    async def accept(self, pieces: Sequence[NewFeedback]) -> None:
        self.did.append(("accept", [one.id for one in pieces]))

    async def acknowledge(self, source_id: str, outcome: Outcome) -> None:
        self._may(source_id)
        self.did.append((source_id, outcome.status.value, str(outcome.error or "")))


class Stores:
    """Inbox, agents and deliveries; what contains `bad` is refused, or `down` not stored now."""

    def __init__(self, *sources: Source) -> None:
        self.sources = {source.name: source for source in sources}
        self.known_ids: set[str] = set()
        self.waiting: dict[str, list[Feedback]] = {}
        self.asked: list[tuple[str, int]] = []
        self.noted: list[str] = []
        self.saved: list[str] = []
        self.batches: list[int] = []
        self.now = 0.0

    async def save(self, agent: Agent) -> bool:
        if "bad" in agent.id:
            raise InvalidInput("no such id")
        self.saved.append(agent.id)
        return True

    async def add(self, source: str, pieces: Sequence[NewFeedback]) -> Sequence[tuple[str, bool]]:
        self.batches.append(len(pieces))
        for one in pieces:
            if "bad" in one.content:
                raise InvalidInput("it was sent with other words")
            if "down" in one.content:
                raise ScreenDown("the screen does not answer")
        return [(f"f{one.id}", one.id not in self.known_ids) for one in pieces]

    async def known(self, source: str, source_ids: Sequence[str]) -> frozenset[str]:
        assert all(source_ids), "a piece without an id is known by none"
        if "odd" in source_ids:
            raise InvalidInput("no id that can be stored")
        return frozenset(source_ids) & self.known_ids

    async def unacknowledged(self, source: str, limit: int) -> Sequence[Feedback]:
        self.asked.append((source, limit))
        return [one for one in self.waiting.get(source, []) if one.id not in self.noted]

    async def acknowledged(self, one: Feedback) -> None:
        self.noted.append(one.id)

    @property
    def deps(self) -> SourceDeps:
        given = SimpleNamespace(inbox=self, agents=self, deliveries=self, sources=self.sources)
        return cast("SourceDeps", given)

    def poller(self) -> SourcePoller:
        return SourcePoller(self.deps, lambda: self.now)


async def test_new_pieces_are_counted_and_the_source_told_which_are_stored() -> None:
    source = Source("one", piece("1"), piece("2"), piece("3"))
    source.agents = (Agent(id="bad", tenant_id="t", name="B"), AGENT)
    stores = Stores(source)
    stores.known_ids = {"2"}
    with structlog.testing.capture_logs() as logs:
        assert await fetch_feedback_task(source, limit=9, deps=stores.deps) == 2
    assert source.did == [("fetch", 9), ("accept", ["1", "2", "3"])]
    assert (stores.saved, stores.batches) == (["a"], [3])
    assert [line["event"] for line in logs] == ["agent.refused"]
    nothing = Source()
    assert await fetch_feedback_task(nothing, limit=9, deps=stores.deps) == 0
    assert nothing.did == [("fetch", 9)]


async def test_one_piece_that_is_refused_keeps_no_other_out() -> None:
    pieces = (
        piece("1"), piece("2", "bad"), piece("3", "down"), piece("4", "bad"), piece(None, "bad"),
        piece("odd", "bad"), piece("6"),
    )  # fmt: skip
    source = Source("one", *pieces)
    stores = Stores(source)
    stores.known_ids = {"4", "6"}
    assert await fetch_feedback_task(source, limit=9, deps=stores.deps) == 1
    told = "it was sent with other words"
    assert source.did == [
        ("fetch", 9), ("2", "failed", told), ("odd", "failed", told), ("accept", ["1", "4", "6"]),
    ]  # fmt: skip
    assert stores.batches == [7, *[1] * 7]
    alone = Source("one", piece("2", "bad"))
    assert await fetch_feedback_task(alone, limit=9, deps=stores.deps) == 0
    assert alone.did == [("fetch", 9), ("2", "failed", told)]


async def test_what_could_not_be_told_comes_last_until_it_is() -> None:
    source = Source()
    stores = Stores(source)
    stores.waiting = {"one": [ended("1"), ended("2"), ended("3")]}
    source.errors = {"2": SourceDown("away")}
    put_off = {"f9"}
    with pytest.raises(SourceDown):
        await acknowledge_task(source, limit=7, deps=stores.deps, put_off=put_off)
    assert (stores.noted, put_off) == (["f1"], {"f2"})  # what waits no more is forgotten
    source.errors = {"3": InvalidInput("no such row")}
    assert await acknowledge_task(source, limit=7, deps=stores.deps, put_off=put_off) == 1
    assert (stores.noted, put_off) == (["f1", "f2"], set())
    source.errors = {"3": ConfigurationError("no key")}
    with pytest.raises(ConfigurationError):
        await acknowledge_task(source, limit=7, deps=stores.deps, put_off=put_off)
    assert put_off == {"f3"}
    source.errors, stores.waiting["one"] = {}, [ended("3"), ended("4")]
    assert await acknowledge_task(source, limit=7, deps=stores.deps, put_off=put_off) == 2
    assert (stores.noted[-2:], put_off) == (["f4", "f3"], set())
    assert stores.asked == [("one", 7)] * 4
    assert await acknowledge_task(source, limit=7, deps=stores.deps) == 0


async def test_an_end_is_told_at_once_and_its_failure_is_only_logged() -> None:
    source = Source()
    stores = Stores(source)
    outcome = Outcome(status=FeedbackStatus.FAILED, error="why")
    await acknowledge_end(ended("1", FeedbackStatus.PROCESSING), outcome, stores.deps)
    assert (source.did, stores.noted) == ([("1", "failed", "why")], ["f1"])
    for error, told in (
        (SourceDown("away"), "feedback.unacknowledged"), (ValueError("x"), "source.broke"),
    ):  # fmt: skip
        source.errors = {"2": error}
        with structlog.testing.capture_logs() as logs:
            await acknowledge_end(ended("2"), outcome, stores.deps)
        assert [line["event"] for line in logs] == [told]
    elsewhere = ended("3").model_copy(update={"source": "another"})
    await acknowledge_end(elsewhere, outcome, stores.deps)
    assert stores.noted == ["f1"]


async def test_a_round_tells_before_it_fetches_and_each_source_its_own() -> None:
    one, two = Source("one", piece("1")), Source("two", piece("1"), piece("2"))
    stores = Stores(one, two)
    stores.waiting = {"one": [ended("8")]}
    poller = stores.poller()
    assert await poller.poll(5) == 3
    assert [what[0] for what in one.did] == ["8", "fetch", "accept"]  # type: ignore[index]
    assert stores.asked == [("one", 5), ("two", 5)]
    assert ("fetch", 5) in two.did
    stores.waiting = {"two": [ended("9")]}
    two.did.clear()
    await poller.acknowledge(3)
    assert [what[0] for what in two.did] == ["9"]  # type: ignore[index]
    assert stores.asked[2:] == [("one", 3), ("two", 3)]


@pytest.mark.parametrize("error", [SourceDown("away"), ValueError("a defect")])
async def test_a_source_that_fails_stops_no_other_and_is_told_until_it_works(
    error: Exception,
) -> None:
    one, two = Source("one", piece("1")), Source("two", piece("2"))
    stores = Stores(one, two)
    poller = stores.poller()
    one.errors = {"fetch": error}
    with structlog.testing.capture_logs() as logs:
        assert await poller.poll(5) == 1
    is_ours = isinstance(error, ValueError)
    assert [line["event"] for line in logs] == ["source.broke" if is_ours else "source.failed"]
    assert poller.failures == ({} if is_ours else {"one": error})
    one.errors = {"8": SourceDown("cannot be told")}
    stores.waiting = {"one": [ended("8")]}
    await poller.poll(5)
    assert [str(one) for one in poller.failures.values()] == ["cannot be told"]
    one.errors = {}
    await poller.poll(5)
    assert poller.failures == {}


async def test_a_source_that_asks_for_time_is_left_alone_until_then() -> None:
    source = Source("one", piece("1"))
    stores = Stores(source)
    poller = stores.poller()
    source.errors = {"fetch": SourceDown("slow down", retry_after=10.0)}
    await poller.poll(5)
    source.errors = {}
    source.did.clear()
    for now, calls in ((9.9, 0), (10.0, 1)):
        stores.now = now
        await poller.poll(5)
        await poller.acknowledge(5)
        assert len([what for what in source.did if what == ("fetch", 5)]) == calls
    assert len(stores.asked) == 3
    stores.waiting = {"one": [ended("8")]}
    source.errors = {"8": SourceDown("slow down", retry_after=5.0)}
    source.did.clear()
    assert await poller.poll(5) == 0
    assert source.did == []  # what asks for time when it is told is not fetched from either
    source.errors = {"fetch": DependencyDown("away")}
    stores.now = 20.0
    await poller.poll(5)
    stores.now = 20.1
    source.errors = {}
    assert await poller.poll(5) == 1
