"""Contract of the outbox: what is written with events, claimed in order, and settled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import pytest

from core.delivery.dispatcher import ATTEMPTS, Dispatcher
from core.delivery.hooks import Hook, Hooks
from core.domain.errors import NotFound
from core.domain.models import RunEvent
from core.domain.models.deliveries import (
    Delivery,
    DeliveryFilter,
    DeliveryStatus,
    HookAnswer,
    Outcome,
    Sent,
)
from core.domain.ports import DeliveryLog, Journal, Outbox, Target

START = datetime(2026, 1, 1, tzinfo=UTC)
DONE, LATER = Sent(outcome=Outcome.DONE, status="200"), Sent(outcome=Outcome.LATER, status="500")
HOUR = 3600.0
ALL = DeliveryFilter()


def hook(name: str = "us", **given: object) -> Hook:
    return Hook.model_validate(
        {"name": name, "event": ["change.held"], "http": "http://x", **given}
    )


def held(number: int = 1, feedback_id: str = "f", **given: object) -> RunEvent:
    made = {"name": "change.held", "tenant_id": "t", "feedback_id": feedback_id, **given}
    return RunEvent.model_validate({**made, "change_id": f"c{number}", "data": {"kind": "MEMORY"}})


@dataclass
class Clock:
    now: datetime = START

    def __call__(self) -> datetime:
        return self.now

    def forward(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


@dataclass
class Double:
    """A target that remembers what came, and answers as told."""

    answers: list[Sent] = field(default_factory=list)
    came: list[Delivery] = field(default_factory=list)
    digest: str = "1"
    lease: float = 60.0

    async def deliver(self, delivery: Delivery) -> Sent:
        self.came.append(delivery)
        return self.answers.pop(0) if self.answers else DONE

    @property
    def changes(self) -> list[str | None]:
        return [delivery.change_id for delivery in self.came]


class OutboxContract:
    """Tests for any outbox; `journal` writes with the routes of `hooks`, the fixture."""

    @pytest.fixture
    def hooks(self) -> Hooks:
        return Hooks([hook()])

    @pytest.fixture(autouse=True)
    def _stores(self, outbox: Outbox, delivery_log: DeliveryLog, journal: Journal) -> None:
        self.outbox, self.log, self.journal = outbox, delivery_log, journal
        self.clock, self.target = Clock(), Double()

    def dispatcher(self, targets: Mapping[str, Target] | None = None) -> Dispatcher:
        return Dispatcher(
            self.outbox,
            targets or {"us": self.target},
            self.journal,
            clock=self.clock,
            jitter=lambda: 0.0,
        )

    async def list(self, **wanted: object) -> Sequence[Delivery]:
        items, _ = await self.log.page(DeliveryFilter(**wanted), limit=50, cursor=None)  # type: ignore[arg-type]
        return items

    async def test_an_event_goes_out_once_with_its_payload(self) -> None:
        await self.journal.emit(held())
        await self.journal.emit(RunEvent(name="change.applied", tenant_id="t", change_id="c9"))
        await self.dispatcher().drain()
        await self.dispatcher().drain()
        (came,) = self.target.came
        assert (came.event, came.change_id, came.payload.data) == (
            "change.held",
            "c1",
            {"kind": "MEMORY"},
        )
        assert came.payload.at is not None
        (kept,) = await self.list()
        assert (kept.status, kept.attempts) == (DeliveryStatus.DELIVERED, 1)

    async def test_what_is_skipped_says_so_and_holds_nothing_back(self) -> None:
        for number in (1, 2):
            await self.journal.emit(held(number))
        self.target.answers = [Sent(outcome=Outcome.SKIPPED, status="skipped", error="no place")]
        await self.dispatcher().drain()
        assert self.target.changes == ["c1", "c2"]
        (left,) = await self.list(statuses=(DeliveryStatus.SKIPPED,))
        assert (left.change_id, left.status, left.error) == (
            "c1", DeliveryStatus.SKIPPED, "no place"
        )  # fmt: skip
        (arrived,) = await self.list(statuses=(DeliveryStatus.DELIVERED,))
        assert (arrived.change_id, arrived.error) == ("c2", None)
        (attempt,) = (await self.log.get(left.id)).attempts
        assert (attempt.status, attempt.error) == ("skipped", "no place")
        await self.log.replay(left.id)
        await self.dispatcher().drain()
        assert not await self.list(statuses=(DeliveryStatus.SKIPPED,))

    async def test_what_fails_holds_back_what_follows_of_its_subject_only(self) -> None:
        for number, feedback_id in ((1, "f"), (2, "f"), (3, "g")):
            await self.journal.emit(held(number, feedback_id))
        self.target.answers = [LATER]
        await self.dispatcher().drain()
        assert self.target.changes == ["c1", "c3"]
        self.clock.forward(5)
        await self.dispatcher().drain()
        assert self.target.changes == ["c1", "c3", "c1", "c2"]
        assert len({delivery.id for delivery in self.target.came}) == 3

    async def test_back_off_grows_over_27_hours_and_then_it_is_given_up(self) -> None:
        await self.journal.emit(held())
        waits: list[float] = []
        self.target.answers = [LATER] * ATTEMPTS
        while (kept := (await self.list())[0]).status is DeliveryStatus.WAITING:
            before = self.clock.now
            self.clock.now = max(before, kept.due_at or before)
            await self.outbox_rested()
            await self.dispatcher().drain()
            waits.append((self.clock.now - before).total_seconds())
        assert [round(wait) for wait in waits[1:5]] == [5, 20, 80, 320]
        assert 27 * HOUR < sum(waits) < 28 * HOUR
        found = await self.log.get(kept.id)
        assert (kept.status, len(found.attempts)) == (DeliveryStatus.DEAD, ATTEMPTS)
        assert {attempt.status for attempt in found.attempts} == {"500"}

    async def outbox_rested(self) -> None:
        """The breaker is tried by itself: here it would only shift the times."""
        await self.log.enable("us")

    async def test_who_asks_for_time_is_left_alone_that_long(self) -> None:
        await self.journal.emit(held(1, "f"))
        await self.journal.emit(held(2, "g"))
        self.target.answers = [LATER.model_copy(update={"retry_after": 100.0}), DONE]
        await self.dispatcher().drain()
        await self.journal.emit(held(3, "h"))
        self.clock.forward(99)
        await self.dispatcher().drain()
        assert self.target.changes == ["c1", "c2"]
        self.clock.forward(2)
        await self.dispatcher().drain()
        assert sorted(self.target.changes[2:], key=str) == ["c1", "c3"]

    async def test_a_failing_target_rests_is_probed_by_one_and_others_go_on(self) -> None:
        other, hooks = Double(), [hook(), hook("them")]
        for number in range(8):
            await self.emit(hooks, held(number, f"f{number}"))
        self.target.answers = [LATER] * 9
        both = self.dispatcher({"us": self.target, "them": other})
        await both.drain()
        assert (len(self.target.came), len(other.came)) == (8, 8)
        self.clock.forward(29)
        await both.drain()
        assert len(self.target.came) == 8  # though what failed is due
        self.clock.forward(1000)
        await both.drain()
        assert len(self.target.came) == 9
        (state,) = await self.log.targets()
        assert (state.name, state.failures) == ("us", 9)
        self.clock.forward(1000)
        await both.drain()
        assert len(self.target.came) == 17
        assert not await self.log.targets()

    async def emit(self, hooks: Sequence[Hook], event: RunEvent) -> None:
        raise NotImplementedError

    async def test_who_wants_no_more_is_left_alone_until_it_is_changed(self) -> None:
        await self.journal.emit(held())
        self.target.answers = [Sent(outcome=Outcome.GONE, status="410", error="410")]
        await self.dispatcher().drain()
        self.clock.forward(100 * HOUR)
        await self.dispatcher().drain()
        assert len(self.target.came) == 1
        (state,) = await self.log.targets()
        assert (state.disabled_at, state.error) != (None, None)
        self.target.digest = "2"
        await self.dispatcher().drain()
        assert [kept.status for kept in await self.list()] == [DeliveryStatus.DELIVERED]

    async def test_enabling_lets_what_waited_go_out(self) -> None:
        await self.journal.emit(held())
        self.target.answers = [Sent(outcome=Outcome.GONE, status="410")]
        await self.dispatcher().drain()
        assert await self.log.enable("us")
        assert not await self.log.enable("us")
        await self.dispatcher().drain()
        assert len(self.target.came) == 2

    async def test_what_is_refused_for_good_ends_and_is_sent_again_on_demand(self) -> None:
        await self.journal.emit(held())
        never = Sent(outcome=Outcome.NEVER, status="422", error="no")
        self.target.answers = [never]
        await self.dispatcher().drain()
        (kept,) = await self.list(statuses=(DeliveryStatus.FAILED,))
        assert kept.error == "no"
        assert (await self.log.replay(kept.id)).status is DeliveryStatus.WAITING
        await self.dispatcher().drain()
        found = await self.log.get(kept.id)
        assert found.delivery.status is DeliveryStatus.DELIVERED
        assert [attempt.ordinal for attempt in found.attempts] == [1]
        with pytest.raises(NotFound):
            await self.log.replay("dlv_none")

    async def test_what_a_dead_worker_had_begun_goes_out_again_under_its_id(self) -> None:
        await self.journal.emit(held())
        (begun,) = await self.outbox.claim({"us": self.target}, self.clock())
        await self.dispatcher().drain()
        assert not self.target.came  # another worker has it
        self.clock.forward(61)
        await self.dispatcher().drain()
        assert [delivery.id for delivery in self.target.came] == [begun.id]

    async def test_what_nobody_is_configured_for_waits(self) -> None:
        await self.journal.emit(held())
        await self.dispatcher({"them": self.target}).drain()
        assert not self.target.came
        assert [kept.status for kept in await self.list()] == [DeliveryStatus.WAITING]

    async def test_once_means_once_for_a_change(self) -> None:
        hooks = [hook(once=True)]
        for number in (1, 1, 2):
            await self.emit(hooks, held(number))
        await self.dispatcher().drain()
        assert self.target.changes == ["c1", "c2"]

    async def test_lists_are_filtered_and_paged(self) -> None:
        for number, feedback_id in ((1, "f"), (2, "g"), (3, "g")):
            await self.journal.emit(held(number, feedback_id, tenant_id=f"t{number}"))
        assert [one.change_id for one in await self.list(feedback_id="g")] == ["c3", "c2"]
        assert [one.change_id for one in await self.list(tenant_id="t1")] == ["c1"]
        page, cursor = await self.log.page(ALL, limit=2, cursor=None)
        rest, end = await self.log.page(ALL, limit=2, cursor=cursor)
        assert [one.change_id for one in (*page, *rest)] == ["c3", "c2", "c1"]
        assert end is None

    async def test_what_hooks_said_of_a_piece_is_known_once_they_have(self) -> None:
        await self.journal.emit(held())
        assert await self.log.said("f", ["us"]) == ([], True)
        assert await self.log.said("f", []) == ([], False)
        answer = HookAnswer(note="see page 3")
        self.target.answers = [DONE.model_copy(update={"answer": answer})]
        await self.dispatcher().drain()
        (said,), is_awaited = await self.log.said("f", ["us"])
        assert (said.hook, said.note, said.change_id, is_awaited) == (
            "us",
            "see page 3",
            "c1",
            False,
        )
