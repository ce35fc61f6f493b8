"""How an attempt at a delivery ends, when the next one is, and whom a slow target delays."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

import pytest
import structlog.testing

from core.delivery.dispatcher import ATTEMPTS, LONGEST_SECONDS, Dispatcher, delay
from core.domain.errors import SourceDown
from core.domain.models import RunEvent
from core.domain.models.deliveries import Delivery, DeliveryStatus, Outcome, Sent, Settled
from core.domain.ports import Target

AT = datetime(2026, 11, 3, tzinfo=UTC)
LATER = Sent(outcome=Outcome.LATER, status="500", error="it broke")
DELIVERED, SKIPPED, FAILED, WAITING, DEAD = (
    DeliveryStatus.DELIVERED,
    DeliveryStatus.SKIPPED,
    DeliveryStatus.FAILED,
    DeliveryStatus.WAITING,
    DeliveryStatus.DEAD,
)


def delivery(number: int = 1, target: str = "us", attempts: int = 1) -> Delivery:
    event = RunEvent(name="change.held", tenant_id="t", change_id=f"c{number}")
    return Delivery(
        id=f"d{number}", tenant_id="t", target=target, event=event.name, payload=event,
        created_at=AT, attempts=attempts,
    )  # fmt: skip


class Place:
    """A target that answers as told; with `gate` only once that is set."""

    digest, lease = "digest", 60.0

    def __init__(self, sent: Sent = LATER) -> None:
        self.sent = sent
        self.came: list[str] = []
        self.gate: asyncio.Event | None = None

    async def deliver(self, one: Delivery) -> Sent:
        self.came.append(one.id)
        if self.gate is not None:
            await self.gate.wait()
        return self.sent


class World:
    """An outbox from which each delivery is claimed once, and what was recorded."""

    def __init__(self, *waiting: Delivery, **targets: Place) -> None:
        self.waiting = [*waiting]
        self.targets = targets or {"us": Place()}
        self.claims: list[tuple[str, ...]] = []
        self.settled: list[tuple[str, Settled, str]] = []
        self.events: list[RunEvent] = []
        self.broken: Exception | None = None
        self.now = AT
        self.dispatcher = Dispatcher(
            self,  # type: ignore[arg-type]
            self.targets,
            self,  # type: ignore[arg-type]
            clock=self.clock,
            jitter=lambda: 0.5,
        )

    def clock(self) -> datetime:
        """A second passes with each look."""
        self.now += timedelta(seconds=1)
        return self.now

    async def claim(self, targets: Mapping[str, Target], now: datetime) -> Sequence[Delivery]:
        self.claims.append(tuple(sorted(targets)))
        found = [one for one in self.waiting if one.target in targets][:2]
        self.waiting = [one for one in self.waiting if one not in found]
        return found

    async def settle(self, one: Delivery, ended: Settled, digest: str) -> int:
        if self.broken:
            raise self.broken
        self.settled.append((one.id, ended, digest))
        return 1

    async def emit(self, event: RunEvent) -> None:
        self.events.append(event)

    async def ended(self) -> Settled:
        """Deliver all, and return how the one that waited has ended."""
        await self.dispatcher.drain()
        ((_, ended, _),) = self.settled
        return ended


def test_waits_grow_to_a_longest_and_are_spread() -> None:
    assert [delay(attempt, 0.0) for attempt in (1, 2, 3)] == [5.0, 20.0, 80.0]
    assert delay(7, 0.0) == 5.0 * 4.0**6 < LONGEST_SECONDS
    assert delay(8, 0.0) == delay(20, 0.0) == LONGEST_SECONDS
    assert delay(1, 0.5) == pytest.approx(5.25)


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (Sent(outcome=Outcome.DONE, status="200"), DELIVERED),
        (Sent(outcome=Outcome.SKIPPED, status="skipped"), SKIPPED),
        (Sent(outcome=Outcome.NEVER, status="422"), FAILED),
    ],
)
async def test_what_has_ended_is_not_due_again(sent: Sent, status: DeliveryStatus) -> None:
    world = World(delivery(), us=Place(sent))
    ended = await world.ended()
    assert ended[:3] == (status, sent, AT + timedelta(seconds=2))
    assert 0 <= ended.seconds < 10
    assert (ended.due_at, ended.rests_until) == (None, None)
    assert (world.settled[0][0], world.settled[0][2]) == ("d1", "digest")
    assert world.events == []


async def test_what_failed_is_due_after_its_wait() -> None:
    ended = await World(delivery(attempts=2), us=Place()).ended()
    assert (ended.status, ended.rests_until) == (WAITING, None)
    assert ended.due_at == AT + timedelta(seconds=3 + 21)


@pytest.mark.parametrize(("asked", "wait"), [(3.0, 5.25), (100.0, 100.0)])
async def test_a_target_that_asks_for_time_rests_that_long(asked: float, wait: float) -> None:
    sent = LATER.model_copy(update={"retry_after": asked})
    ended = await World(delivery(), us=Place(sent)).ended()
    assert ended.rests_until == AT + timedelta(seconds=3 + asked)
    assert ended.due_at == AT + timedelta(seconds=3 + wait)


async def test_the_last_attempt_is_made_and_none_after_it() -> None:
    for attempts, status, came in (
        (ATTEMPTS - 1, WAITING, ["d1"]),
        (ATTEMPTS, DEAD, ["d1"]),
        (ATTEMPTS + 1, DEAD, []),
    ):
        place = Place()
        ended = await World(delivery(attempts=attempts), us=place).ended()
        assert (ended.status, place.came) == (status, came)
        assert (ended.sent == LATER) == bool(came)
    assert ended.sent.error


async def test_a_target_that_wants_no_more_is_told_of_once_it_is_off() -> None:
    gone = Sent(outcome=Outcome.GONE, status="410", error="gone")
    world = World(delivery(attempts=ATTEMPTS), us=Place(gone))
    ended = await world.ended()
    assert (ended.status, ended.due_at) == (WAITING, AT + timedelta(seconds=3))
    assert [(event.name, event.data) for event in world.events] == [
        ("hook.disabled", {"hook": "us", "error": "gone"})
    ]


async def test_all_that_is_due_goes_out_and_each_to_its_target() -> None:
    us, them = Place(), Place()
    waiting = [delivery(number) for number in range(5)]
    world = World(*waiting, delivery(9, "them"), us=us, them=them)
    await world.dispatcher.drain()
    assert (us.came, them.came) == ([f"d{n}" for n in range(5)], ["d9"])
    assert not await world.dispatcher.work()


async def test_a_slow_target_delays_no_other() -> None:
    slow, quick = Place(), Place()
    slow.gate = asyncio.Event()
    world = World(delivery(1, "slow"), slow=slow, quick=quick)
    assert await world.dispatcher.work()
    world.waiting = [delivery(2, "slow"), delivery(3, "quick")]
    assert await world.dispatcher.work()
    while not quick.came:
        await asyncio.sleep(0)
    assert (world.claims[:2], slow.came) == ([("quick", "slow"), ("quick",)], ["d1"])
    slow.gate.set()
    await world.dispatcher.drain()
    assert slow.came == ["d1", "d2"]


async def test_nothing_is_claimed_while_all_are_being_served() -> None:
    slow = Place()
    slow.gate = asyncio.Event()
    world = World(delivery(1, "slow"), slow=slow)
    assert await world.dispatcher.work()
    assert not await world.dispatcher.work()
    assert world.claims == [("slow",)]
    while not slow.came:
        await asyncio.sleep(0)
    await world.dispatcher.close()  # which cuts it off
    assert world.settled == []
    world.waiting = [delivery(2, "slow")]
    assert await world.dispatcher.work()  # it may be served again
    slow.gate.set()
    await world.dispatcher.drain()
    assert [one for one, *_ in world.settled] == ["d2"]


@pytest.mark.parametrize(
    ("error", "told"),
    [(SourceDown("away"), "delivery.unsettled"), (ValueError("x"), "delivery.broke")],
)
async def test_what_cannot_be_recorded_stops_no_later_delivery(error: Exception, told: str) -> None:
    world = World(delivery())
    world.broken = error
    with structlog.testing.capture_logs() as logs:
        await world.dispatcher.drain()
    assert [(line["event"], line["target"]) for line in logs] == [(told, "us")]
    world.broken, world.waiting = None, [delivery(2)]
    await world.dispatcher.drain()
    assert [one for one, *_ in world.settled] == ["d2"]


@pytest.mark.parametrize(
    ("sent", "told"),
    [
        (Sent(outcome=Outcome.DONE, status="200"), {"event": "delivery.sent", "status": "200"}),
        (
            Sent(outcome=Outcome.SKIPPED, status="skipped", error="no place"),
            {"event": "delivery.skipped", "error": "no place"},
        ),
        (
            LATER,
            {"event": "delivery.failed", "status": "500", "error": "it broke", "failures": 1},
        ),
        (
            Sent(outcome=Outcome.NEVER, status="422", error="no"),
            {"event": "delivery.given_up", "status": "422", "error": "no"},
        ),
    ],
)
async def test_how_it_ended_is_logged_with_its_target(sent: Sent, told: dict[str, object]) -> None:
    with structlog.testing.capture_logs() as logs:
        await World(delivery(), us=Place(sent)).dispatcher.drain()
    (line,) = logs
    told = {"delivery_id": "d1", "target": "us", "attempt": 1, **told}
    assert {name: line[name] for name in told} == told
    assert bool(line.get("next_at")) == (sent is LATER)
