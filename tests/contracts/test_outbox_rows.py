"""What goes out next, and what an end changes: of each delivery and each target its own row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest

from core.adapters.postgres.outbox import PostgresDeliveryLog, PostgresOutbox
from core.adapters.postgres.queries import Pool, connection, execute
from core.domain.models import RunEvent
from core.domain.models.deliveries import (
    Delivery,
    DeliveryFilter,
    DeliveryStatus,
    HookAnswer,
    Outcome,
    Sent,
    Settled,
)
from tests.support.seeding import AT, DAY, Row, put_all

SECOND = timedelta(seconds=1)


@dataclass(frozen=True)
class Place:
    """A target that nothing is sent to here."""

    digest: str = "now"
    lease: float = 60.0

    async def deliver(self, delivery: Delivery) -> Sent:
        raise NotImplementedError


@pytest.fixture
def outbox(pool: Pool) -> PostgresOutbox:
    return PostgresOutbox(pool)


def delivery(name: str, seq: int, target: str = "us", **more: object) -> Row:
    row: dict[str, object] = {
        "id": name, "seq": seq, "tenant_id": "t", "target": target, "event": "change.held",
        "subject": name, "payload": {"name": "change.held"}, "created_at": AT,
    }  # fmt: skip
    return "deliveries", row | more


def target(name: str, **more: object) -> Row:
    return "delivery_targets", {"name": name, "failures": 1, "digest": "now"} | more


async def claimed(outbox: PostgresOutbox, *names: str) -> list[str]:
    found = await outbox.claim({name: Place() for name in names}, AT)
    return [one.id for one in found]


async def deliveries(pool: Pool) -> dict[str, dict[str, object]]:
    async with connection(pool) as conn:
        rows = await (await conn.execute(b"SELECT * FROM deliveries")).fetchall()
    return {row["id"]: row for row in rows}


async def targets(pool: Pool) -> Mapping[str, tuple[int, object, object]]:
    found = await PostgresDeliveryLog(pool).targets()
    return {one.name: (one.failures, one.open_until, one.disabled_at) for one in found}


async def test_what_is_due_goes_out_in_its_order_and_of_each_subject_the_first(
    pool: Pool, outbox: PostgresOutbox
) -> None:
    await put_all(
        pool, delivery("second", 9), delivery("first", 3), delivery("due", 10, due_at=AT),
        delivery("later", 4, due_at=AT + SECOND), delivery("ended", 1, status="delivered"),
        delivery("taken", 5, claimed_until=AT + SECOND), delivery("left", 6, claimed_until=AT),
        delivery("behind", 11, subject="later"), delivery("behind-ended", 12, subject="ended"),
        delivery("elsewhere", 2, "them"), delivery("same-elsewhere", 13, subject="elsewhere"),
    )  # fmt: skip
    assert await claimed(outbox) == []
    wanted = ["first", "left", "second", "due", "behind-ended", "same-elsewhere"]
    assert await claimed(outbox, "us") == wanted
    rows = await deliveries(pool)
    assert {one for one, row in rows.items() if row["attempts"]} == {*wanted}
    assert {rows[one]["claimed_until"] for one in wanted} == {AT + timedelta(seconds=60)}
    assert await claimed(outbox, "us") == []


async def test_of_a_target_at_most_eight_go_out_at_once(pool: Pool, outbox: PostgresOutbox) -> None:
    rows = [
        delivery(f"{to}{n:02}", 20 * len(to) + n, to) for to in ("us", "them") for n in range(10)
    ]
    await put_all(pool, *rows)
    found = await claimed(outbox, "us", "them")
    assert found == [f"{to}{n:02}" for to in ("us", "them") for n in range(8)]


async def test_targets_that_rest_or_are_off_get_nothing_and_failing_ones_one(
    pool: Pool, outbox: PostgresOutbox
) -> None:
    names = ("rests", "rested", "off", "changed", "failed", "failing", "asked", "fine")
    rows = [
        delivery(f"{name}{n}", 10 * m + n, name) for m, name in enumerate(names) for n in (1, 2)
    ]
    await put_all(
        pool, *rows, delivery("asking", 99, "asked", claimed_until=AT + SECOND),
        delivery("asked-us", 98, "failing", claimed_until=AT, subject="failing2"),
        delivery("ended", 97, "failing", claimed_until=AT + DAY, status="dead"),
        target("rests", open_until=AT + SECOND), target("rested", open_until=AT),
        target("off", disabled_at=AT), target("changed", disabled_at=AT, digest="before"),
        target("failed", failures=4), target("failing", failures=5), target("asked", failures=9),
    )  # fmt: skip
    assert await claimed(outbox, *names) == [
        "rested1", "rested2", "changed1", "changed2", "failed1", "failed2", "failing1", "fine1",
        "fine2",
    ]  # fmt: skip


def ended(
    outcome: Outcome = Outcome.DONE, status: DeliveryStatus = DeliveryStatus.DELIVERED,
    **more: object,
) -> Settled:  # fmt: skip
    sent = Sent(outcome=outcome, status="200", error="why" if outcome in FAILED else None)
    return Settled(status=status, sent=sent, began=AT, seconds=2.0, **more)  # type: ignore[arg-type]


FAILED = {Outcome.LATER, Outcome.GONE}
LATER = {"outcome": Outcome.LATER, "status": DeliveryStatus.WAITING}


async def test_an_end_is_that_of_the_latest_attempt_of_its_delivery(
    pool: Pool, outbox: PostgresOutbox
) -> None:
    taken = {"attempts": 2, "claimed_until": AT + DAY}
    await put_all(
        pool, delivery("done", 1, **taken), delivery("again", 2, **taken),
        delivery("overtaken", 3, **taken), delivery("over", 4, **taken, status="dead"),
        delivery("beside", 5, **taken),
    )  # fmt: skip
    log = PostgresDeliveryLog(pool)

    async def settle(name: str, end: Settled, attempts: int = 2) -> int:
        given = (await log.get(name)).delivery.model_copy(update={"attempts": attempts})
        return await outbox.settle(given, end, "now")

    assert await settle("done", ended()) == 0
    later = ended(**LATER, due_at=AT + 2 * DAY)  # type: ignore[arg-type]
    assert await settle("again", later) == 1
    assert await settle("overtaken", later, 1) == 0
    assert await settle("over", later) == 0
    rows = await deliveries(pool)
    done, again = rows["done"], rows["again"]
    assert (done["status"], done["ended_at"], done["claimed_until"]) == (
        "delivered", AT + 2 * SECOND, None,
    )  # fmt: skip
    assert (again["status"], again["ended_at"], again["claimed_until"]) == ("waiting", None, None)
    assert (again["due_at"], again["error"]) == (AT + 2 * DAY, "why")
    assert (rows["over"]["status"], rows["over"]["ended_at"]) == ("dead", None)
    for name in ("overtaken", "beside"):
        assert (rows[name]["claimed_until"], rows[name]["error"]) == (AT + DAY, None)
    attempts = {name: (await log.get(name)).attempts for name in rows}
    assert {name: len(found) for name, found in attempts.items() if found} == {
        "done": 1,
        "again": 1,
    }
    (attempt,) = attempts["again"]
    assert (attempt.ordinal, attempt.status, attempt.error, attempt.seconds) == (
        2,
        "200",
        "why",
        2.0,
    )


async def test_a_target_rests_with_what_it_refuses_and_recovers_with_the_rest(
    pool: Pool, outbox: PostgresOutbox
) -> None:
    end = AT + 2 * SECOND  # of each attempt
    given: dict[str, dict[str, object]] = {
        "failing": {"failures": 3}, "rested": {"failures": 7, "open_until": end},
        "rests": {"failures": 7, "open_until": end + SECOND},
        "off": {"failures": 1, "disabled_at": AT},
        "off-before": {"failures": 1, "disabled_at": AT, "digest": "before"},
    }  # fmt: skip
    more = [f"more-{n}" for n in (0, 3, 4, 5, 8, 60)]
    names = [*given, "never", "asks", "gone", *more]
    rows = [delivery(f"to-{name}", n, name, attempts=1) for n, name in enumerate(names, 1)]
    await put_all(
        pool, *rows, *(target(name, **one) for name, one in given.items()),
        target("beside", failures=2),
        *(target(name, failures=int(name[5:])) for name in more),
    )  # fmt: skip
    log = PostgresDeliveryLog(pool)

    async def settle(name: str, settled: Settled) -> int:
        return await outbox.settle((await log.get(f"to-{name}")).delivery, settled, "now")

    for name in [*given, "never"]:
        assert await settle(name, ended()) == 0
    for name in more:
        assert await settle(name, ended(**LATER)) == int(name[5:]) + 1  # type: ignore[arg-type]
    asked = AT + DAY
    assert await settle("asks", ended(**LATER, rests_until=asked)) == 1  # type: ignore[arg-type]
    assert await settle("gone", ended(Outcome.GONE, DeliveryStatus.FAILED)) == 1
    assert await targets(pool) == {
        "asks": (1, asked, None), "beside": (2, None, None), "gone": (1, None, end),
        "more-0": (1, None, None), "more-3": (4, None, None),
        "more-4": (5, end + 30 * SECOND, None), "more-5": (6, end + 60 * SECOND, None),
        "more-8": (9, end + 480 * SECOND, None), "more-60": (61, end + 900 * SECOND, None),
        "off": (1, None, AT), "rests": (0, end + SECOND, None),
    }  # fmt: skip


async def test_what_was_answered_once_is_known_by_its_target_and_key(
    pool: Pool, outbox: PostgresOutbox
) -> None:
    answer = {"decision": "allow", "note": "fine"}
    await put_all(
        pool, delivery("yes", 1, once_key="k", status="delivered", answer=answer),
        delivery("waits", 2, once_key="w", answer=answer),
        delivery("mute", 3, once_key="m", status="delivered"),
    )  # fmt: skip
    found = await outbox.answered("us", "k")
    assert found is not None
    assert found.note == "fine"
    mute = await outbox.answered("us", "m")
    assert mute is not None
    assert mute.note == ""
    for to, key in (("us", "w"), ("them", "k"), ("us", "none")):
        assert await outbox.answered(to, key) is None


async def test_lists_of_deliveries_are_of_what_is_asked_for(pool: Pool) -> None:
    log = PostgresDeliveryLog(pool)
    await put_all(
        pool, delivery("a", 1), delivery("b", 2), delivery("u", 3, tenant_id="u"),
        delivery("them", 4, "them"), delivery("dead", 5, status="dead"),
        delivery("f", 6, feedback_id="f"), delivery("c", 7, change_id="c"),
        delivery("new", 8, created_at=AT + DAY), delivery("old", 9, created_at=AT - DAY),
    )  # fmt: skip

    async def ids(limit: int = 9, **wanted: object) -> list[str]:
        page, _ = await log.page(DeliveryFilter.model_validate(wanted), limit=limit, cursor=None)
        return [one.id for one in page]

    whole = ["new", "u", "them", "f", "dead", "c", "b", "a", "old"]
    assert await ids() == whole
    assert await ids(tenant_id="u") == ["u"]
    assert await ids(target="them") == ["them"]
    assert await ids(statuses=("dead",)) == ["dead"]
    assert await ids(feedback_id="f") == ["f"]
    assert await ids(change_id="c") == ["c"]
    everything = DeliveryFilter()
    first, cursor = await log.page(everything, limit=4, cursor=None)
    rest, end = await log.page(everything, limit=5, cursor=cursor)
    assert ([one.id for one in (*first, *rest)], end) == (whole, None)


async def test_what_is_sent_again_is_forgotten_as_far_as_it_went(pool: Pool) -> None:
    log = PostgresDeliveryLog(pool)
    over = {"status": "dead", "attempts": 3, "ended_at": AT, "error": "why", "due_at": AT}
    names = ("again", "under-way", "beside")
    await put_all(
        pool, delivery("again", 1, **over), delivery("beside", 3, **over),
        delivery("under-way", 2, **over | {"status": "waiting", "claimed_until": AT + DAY}),
        *(("delivery_attempts", {"delivery_id": name, "ordinal": n, "tenant_id": "t"})
          for name in names for n in (2, 1)),
    )  # fmt: skip
    assert [one.ordinal for one in (await log.get("beside")).attempts] == [1, 2]
    assert (await log.replay("again")).attempts == 0
    assert (await log.replay("under-way")).attempts == 3
    rows = await deliveries(pool)
    for name in ("again", "under-way"):
        row = rows[name]
        assert (row["status"], row["ended_at"], row["error"]) == ("waiting", None, None)
        due = row["due_at"]
        assert isinstance(due, datetime)
        assert due.timestamp() == 0
    assert (rows["beside"]["status"], rows["beside"]["due_at"]) == ("dead", AT)
    left = {name: len((await log.get(name)).attempts) for name in names}
    assert left == {"again": 0, "under-way": 2, "beside": 2}


async def test_what_hooks_said_is_awaited_until_their_first_attempt_ends(pool: Pool) -> None:
    log = PostgresDeliveryLog(pool)
    answer = {"note": "fine"}
    first = {"attempts": 1, "claimed_until": AT}
    given: dict[str, dict[str, object]] = {
        "begun": first, "waits": {}, "failed-once": {"attempts": 1},
        "twice": {"attempts": 2, "claimed_until": AT}, "ended": first | {"status": "dead"},
        "unasked": {},
    }  # fmt: skip
    await put_all(
        pool, *(delivery(name, n, name, feedback_id="f", **one)
                for n, (name, one) in enumerate(given.items(), 10)),
        delivery("second", 5, feedback_id="f", answer=answer, ended_at=AT + DAY),
        delivery("first", 4, feedback_id="f", answer=answer), delivery("foreign", 3, answer=answer),
    )  # fmt: skip
    said, _ = await log.said("f", [])
    assert [one.at for one in said] == [AT, AT + DAY]
    awaited = [name for name in given if (await log.said("f", [name]))[1]]
    assert awaited == ["begun", "waits", "unasked"]
    assert await log.said("g", [*given]) == ([], False)


async def test_only_what_ended_or_waited_for_long_is_forgotten(
    pool: Pool, outbox: PostgresOutbox
) -> None:
    now = datetime.now(UTC)

    def old(name: str, seq: int, made: float, over: float | None = None, **more: object) -> Row:
        ended_at = None if over is None else now - timedelta(days=over)
        given = {"created_at": now - timedelta(days=made), "ended_at": ended_at, **more}
        return delivery(name, seq, **given)

    gone = {"status": "delivered"}
    await put_all(
        pool, old("over", 1, 12, 11, **gone), old("ended-now", 2, 12, 9, **gone),
        old("new", 3, 9, 9, **gone), old("waits", 4, 29), old("waited", 5, 31),
        old("again", 6, 12, 11), old("oldest", 7, 40, 39, **gone), old("odd", 8, 9, 11, **gone),
    )  # fmt: skip
    seconds = {"seconds": 10 * 86_400.0, "waits": 30 * 86_400.0}
    await execute(pool, "outbox.prune", **seconds, limit=1)
    assert "oldest" not in await deliveries(pool)
    assert "over" in await deliveries(pool)
    await execute(pool, "outbox.prune", **seconds, limit=9)
    assert {*await deliveries(pool)} == {"ended-now", "new", "waits", "again", "odd"}


async def test_an_end_that_nobody_told_goes_out_within_two_days(pool: Pool) -> None:
    now = datetime.now(UTC)
    told: list[RunEvent] = []
    minute = timedelta(minutes=1)

    def piece(
        name: str, status: str = "completed", ago: timedelta = 5 * minute, **more: object
    ) -> Row:
        row = {"id": name, "source_id": name, "tenant_id": "t", "status": status}
        return "feedback", row | {"finished_at": now - ago} | more

    def event(of: str, name: str = "feedback.finished", ago: timedelta = 5 * minute) -> Row:
        return "run_events", {"name": name, "feedback_id": of, "tenant_id": "t", "at": now - ago}

    await put_all(
        pool, *(piece(one, one, 6 * minute) for one in ("failed", "dead", "held", "no_action")),
        piece("plain", error="why"), piece("just-now", ago=minute / 2), piece("old", ago=3 * DAY),
        piece("pruned", pruned=True), piece("queued", "queued"), piece("cancelled", "cancelled"),
        piece("told"), event("told"), piece("began"), event("began", "run.started"),
        piece("told-before"), event("told-before", ago=7 * minute), piece("x", "processing"),
        piece("told-a-bit-before"), event("told-a-bit-before", ago=5.5 * minute),
    )  # fmt: skip
    outbox = PostgresOutbox(pool, lambda one, _: told.append(one))
    assert await outbox.tell_ends(60.0) == 7
    assert {str(one.feedback_id) for one in told} == {
        "failed", "dead", "held", "no_action", "plain", "began", "told-before",
    }  # fmt: skip
    assert [one.data["status"] for one in told][4:] == ["completed"] * 3
    assert {one.data["error"] for one in told if one.feedback_id == "plain"} == {"why"}
    assert await outbox.tell_ends(60.0) == 0


async def test_what_was_asked_once_is_answered_again_from_its_subject(
    pool: Pool, outbox: PostgresOutbox
) -> None:
    said = HookAnswer(note="not so")
    sent = Sent(outcome=Outcome.DONE, status="200", answer=said)
    asked = Delivery(
        id="d", tenant_id="t", target="us", event="before", subject="once", created_at=AT,
        status=DeliveryStatus.DELIVERED, payload=RunEvent(name="before"),
    )  # fmt: skip
    each_time = asked.model_copy(update={"subject": ""})
    await outbox.record([(asked, sent, 0.1), (each_time, sent, 0.1)])
    await outbox.record([(asked, sent, 0.1), (each_time, sent, 0.1)])
    assert await outbox.answered("us", "once") == said
    assert await outbox.answered("us", "") is None
    kept = [(row["subject"], row["attempts"]) for row in (await deliveries(pool)).values()]
    assert sorted(kept) == [("", 1), ("", 1), ("once", 2)]
