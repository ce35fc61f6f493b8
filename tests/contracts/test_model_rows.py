"""What workers share about a model, and what its calls cost: of each model, slot, run and key."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from core.adapters.postgres.budgets import PostgresSpending
from core.adapters.postgres.circuit_breaker import PostgresCircuitBreaker
from core.adapters.postgres.queries import Pool, connection, execute
from core.adapters.postgres.runs import PostgresJournal, PostgresReplies, PostgresRuns
from core.agent.circuit_breaker import BreakerOptions
from core.domain.errors import CircuitOpen, LeaseLost, ModelDown, NotFound
from core.domain.models import (
    AgentFeedback,
    Feedback,
    Fence,
    LearningCandidate,
    RunEvent,
    Usage,
    Verdict,
)
from core.testing.determinism import counting_ids
from tests.contracts.suites.budgets import PRICED
from tests.support.change_rows import change
from tests.support.seeding import AT, DAY, Row, put_all

SECOND = timedelta(seconds=1)


async def never(_: float) -> None:
    raise AssertionError("nothing is waited for")


def breaker(pool: Pool, model: str = "m", **options: object) -> PostgresCircuitBreaker:
    given = BreakerOptions(failures=3, probe_every=15, **options)  # type: ignore[arg-type]
    return PostgresCircuitBreaker(pool, model, given, new_id=counting_ids("slot"), sleep=never)


def line(model: str, **more: object) -> Row:
    return "model_lines", {"model": model} | more


async def lines(pool: Pool) -> dict[str, dict[str, object]]:
    async with connection(pool) as conn:
        query = b"""SELECT model, failures, open_since, probe_at, fatal, reason,
                           nullif(next_call_at, '-infinity') AS next_call_at FROM model_lines"""
        rows = await (await conn.execute(query)).fetchall()
    return {row["model"]: row for row in rows}


async def ask() -> None:
    """Get an answer."""


async def ask_in_vain() -> None:
    raise ModelDown("down")


async def fail(pool: Pool, model: str = "m") -> None:
    with pytest.raises(ModelDown):
        async with breaker(pool, model).call():
            raise ModelDown("down")


async def test_failures_hold_back_their_own_model(pool: Pool) -> None:
    await put_all(pool, line("n", failures=2), line("m", failures=1))
    await fail(pool)
    assert await breaker(pool).current_pause() is None
    await fail(pool)
    found = await lines(pool)
    assert (found["m"]["failures"], found["n"]["failures"]) == (3, 2)
    assert (found["n"]["open_since"], found["n"]["probe_at"]) == (None, None)
    assert found["m"]["open_since"] is not None
    pause = await breaker(pool).current_pause()
    assert pause is not None
    assert "down" in pause.reason
    with pytest.raises(CircuitOpen):
        async with breaker(pool).call():
            raise AssertionError
    async with breaker(pool, "n").call():
        pass
    for _ in range(3):
        await fail(pool, "new")
    assert await breaker(pool, "new").current_pause() is not None


async def test_an_answer_ends_the_row_of_failures_of_its_model(pool: Pool) -> None:
    await put_all(pool, line("m", failures=2), line("n", failures=2))
    own = breaker(pool)
    async with own.call():
        pass
    assert {one: row["failures"] for one, row in (await lines(pool)).items()} == {"m": 0, "n": 2}


async def test_a_probe_is_due_by_the_clock_of_the_database(pool: Pool) -> None:
    now = datetime.now(UTC)
    held = {"failures": 3, "open_since": now - 60 * SECOND, "reason": "down"}
    soon, due = {"probe_at": now + 30 * SECOND}, {"probe_at": now - SECOND}
    given: dict[str, tuple[dict[str, object], bool]] = {
        "soon": (held | soon, False), "due": (held | due, True),
        "set-back": (held | soon | {"open_since": now + 60 * SECOND}, True),
        "refused": (held | soon | {"fatal": True}, True), "closed": ({"failures": 1}, False),
    }  # fmt: skip
    await put_all(pool, *(line(name, **row) for name, (row, _) in given.items()))
    for name, (_, is_due) in given.items():
        asked = breaker(pool, name)
        await asked.current_pause()
        await asked.probe(ask_in_vain)
        row = (await lines(pool))[name]
        if is_due:
            probe_at = row["probe_at"]
            assert isinstance(probe_at, datetime)
            assert 5 < (probe_at - now).total_seconds() < 30, name
            assert "down" in str(row["reason"])
            assert not row["fatal"]
        else:
            assert row["probe_at"] == given[name][0].get("probe_at"), name
    opened = (await lines(pool))["set-back"]["open_since"]
    assert isinstance(opened, datetime)
    assert opened < datetime.now(UTC) + SECOND
    async with connection(pool) as conn:
        await conn.execute("UPDATE model_lines SET probe_at = now() WHERE model = 'due'")
    await breaker(pool, "due").probe(ask)
    found = await lines(pool)
    released = [found["due"][name] for name in ("failures", "open_since", "probe_at", "reason")]
    assert released == [0, None, None, ""]
    assert found["soon"]["open_since"] == held["open_since"]


async def test_a_slot_is_of_its_model_and_free_again_after_its_time(pool: Pool) -> None:
    now = datetime.now(UTC)

    def slot(model: str, place: int, seconds: float) -> Row:
        row = {"model": model, "place": place, "id": f"{model}{place}"}
        return "model_permits", row | {"expires_at": now + seconds * SECOND}

    async def slots() -> set[str]:
        async with connection(pool) as conn:
            rows = await (await conn.execute(b"SELECT id FROM model_permits")).fetchall()
        return {row["id"] for row in rows}

    await put_all(pool, slot("m", 1, 60), slot("m", 2, -1), slot("n", 1, 60), slot("n", 2, 60))
    async with breaker(pool, max_concurrency=2, longest_wait=0.0).call():
        assert len(await slots()) == 4
        assert {"m1", "n1", "n2"} < await slots()
    assert await slots() == {"m1", "n1", "n2"}
    for model, places in (("n", 2), ("m", 1)):
        with pytest.raises(CircuitOpen):
            async with breaker(pool, model, max_concurrency=places, longest_wait=0.0).call():
                raise AssertionError
    for own in (slot("m", 2, 9), slot("m", 3, 9)):
        await put_all(pool, own)
    await execute(pool, "circuit_breaker.renew_slot", model="m", id="m2", lasts=99.0)
    async with connection(pool) as conn:
        query = b"SELECT id FROM model_permits WHERE expires_at > now() + interval '80 seconds'"
        renewed = await (await conn.execute(query)).fetchall()
    assert [row["id"] for row in renewed] == ["m2"]
    await execute(pool, "circuit_breaker.release_slot", model="n", id="m2")
    assert await slots() == {"m1", "m2", "m3", "n1", "n2"}


async def test_calls_begin_one_after_another_at_the_rate_of_their_model(pool: Pool) -> None:
    now = datetime.now(UTC)
    waited: list[float] = []

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    async def begin(model: str) -> None:
        options = BreakerOptions(requests_per_minute=6, longest_wait=25.0)
        made = PostgresCircuitBreaker(pool, model, options, new_id=counting_ids("s"), sleep=sleep)
        async with made.call():
            pass

    await put_all(
        pool, line("free"), line("busy", next_call_at=now + 20 * SECOND),
        line("full", next_call_at=now + 30 * SECOND), line("odd", next_call_at=now + 90 * SECOND),
        line("past", next_call_at=now - 99 * SECOND),
    )  # fmt: skip
    for model in ("free", "new", "past", "odd"):
        await begin(model)
    assert waited == []
    await begin("busy")
    (seconds,) = waited
    assert 15 < seconds <= 20
    with pytest.raises(CircuitOpen):
        await begin("full")
    await begin("free")
    assert 5 < waited[-1] <= 10
    ahead = {one: row["next_call_at"] for one, row in (await lines(pool)).items()}
    assert isinstance(ahead["busy"], datetime)
    assert isinstance(ahead["odd"], datetime)
    assert 25 < (ahead["busy"] - now).total_seconds() < 35
    assert 5 < (ahead["odd"] - now).total_seconds() < 20
    assert ahead["full"] == now + 30 * SECOND


def spent(calls: int = 1, cost: str = "2") -> Usage:
    return Usage(model_calls=calls, input_tokens=10, output_tokens=20, cost=Decimal(cost))


def run(run_id: str, feedback_id: str = "f", position: int = 1, **more: object) -> Row:
    row = {"id": run_id, "feedback_id": feedback_id, "tenant_id": "t", "agent_id": "a"}
    return "candidates", row | {"position": position, "epoch": 4, "generation": 2} | more


def piece(feedback_id: str) -> Row:
    return "feedback", {"id": feedback_id, "source_id": feedback_id, "tenant_id": "t"}


async def money(pool: Pool, query: bytes) -> dict[str, tuple[object, ...]]:
    async with connection(pool) as conn:
        rows = await (await conn.execute(query)).fetchall()
    return {row["key"]: (row["calls"], row["tokens"], row["cost"]) for row in rows}


_RUNS = b"SELECT id AS key, model_calls AS calls, input_tokens AS tokens, cost FROM candidates"
_DAYS = b"""SELECT tenant_id || ' ' || model AS key, model_calls AS calls, dearest AS tokens, cost
            FROM spending WHERE day >= (now() AT TIME ZONE 'UTC')::date"""


async def test_a_call_is_charged_to_its_run_and_its_tenants_day(pool: Pool) -> None:
    journal = PostgresJournal(pool, billing=PRICED)
    await put_all(
        pool, piece("f"), run("r", model_calls=1, input_tokens=5, cost=1), run("s", position=2),
        ("reservations", {"id": "r", "tenant_id": "t"}),
        ("reservations", {"id": "s", "tenant_id": "t"}),
    )  # fmt: skip
    called = RunEvent(name="model.called", tenant_id="t", feedback_id="f", candidate_id="r")
    for usage in (spent(cost="3"), spent(cost="2")):
        await journal.emit(called, usage)
    await journal.emit(called.model_copy(update={"tenant_id": "u"}), spent())
    await journal.emit(called.model_copy(update={"name": "run.started"}))
    assert await money(pool, _RUNS) == {"r": (4, 35, 8), "s": (0, 0, 0)}
    assert await money(pool, _DAYS) == {"t m": (2, 3, 5), "u m": (1, 2, 2)}
    async with connection(pool) as conn:
        left = await (await conn.execute(b"SELECT id FROM reservations")).fetchall()
    assert [row["id"] for row in left] == ["s"]


async def test_a_reply_is_stored_and_charged_once_by_its_key_and_ordinal(pool: Pool) -> None:
    replies = PostgresReplies(pool, billing=PRICED)
    aside = [("reservations", {"id": one, "tenant_id": "t"}) for one in ("k", "other")]
    await put_all(pool, *aside)  # type: ignore[arg-type]
    await replies.put("k", 1, "first", spent(cost="3"), tenant_id="t")
    await replies.put("k", 1, "again", spent(cost="9"), tenant_id="t")
    await replies.put("k", 2, "next", spent(cost="4"), tenant_id="t")
    await replies.put("kk", 1, "other", spent(cost="5"), tenant_id="u")
    await replies.put("l", 1, "free", Usage(), tenant_id="v")
    assert await replies.get("k", 1) == ("first", spent(cost="3"))
    assert await replies.get("k", 2) == ("next", spent(cost="4"))
    assert await replies.get("kk", 2) is None
    assert (await replies.usage("k")).cost == 12
    assert (await replies.usage("kk")).cost == 5
    assert (await replies.usage("none")).cost == 0
    assert await money(pool, _DAYS) == {"t m": (2, 4, 7), "u m": (1, 5, 5)}
    async with connection(pool) as conn:
        left = await (await conn.execute(b"SELECT id FROM reservations")).fetchall()
    assert [row["id"] for row in left] == ["other"]
    await PostgresSpending(pool, PRICED).pay("t", "other", spent(cost="1"))
    assert (await money(pool, _DAYS))["t m"] == (3, 4, 8)


async def test_calls_whose_tokens_nobody_told_are_counted_in_each_bill(pool: Pool) -> None:
    untold = Usage(model_calls=2)
    called = RunEvent(name="model.called", tenant_id="t", feedback_id="f", candidate_id="r")
    for n in (1, 2):
        await PostgresJournal(pool, billing=PRICED).emit(called, untold)
        await PostgresReplies(pool, billing=PRICED).put(f"k{n}", n, "", untold, tenant_id="t")
        await PostgresSpending(pool, PRICED).pay("t", "call", untold)
        await PostgresSpending(pool, PRICED).pay("t", "call", spent())
        (day,) = await PostgresSpending(pool).of_days("t", 1)
        assert (day.unpriced_calls, day.usage.model_calls) == (6 * n, 7 * n)
        assert (day.usage.input_tokens, day.usage.output_tokens) == (10 * n, 20 * n)


async def test_a_run_is_started_checked_and_ended_by_its_epoch(pool: Pool) -> None:
    runs = PostgresRuns(pool, counting_ids("c"))
    verdict = {"status": "no_action", "reason": "why"}
    await put_all(
        pool, piece("f"), piece("g"), run("r", verdict=verdict),
        run("s", position=2, verdict=verdict),
        run("t", "g", verdict=verdict),
        *(change(f"c-{status}", target_id=status, candidate_id="r", status=status, created_at=AT)
          for status in ("held", "applied", "failed", "applying", "rejected")),
        change("c-early", target_id="e", candidate_id="r", created_at=AT - DAY),
        change("c-other", target_id="o", candidate_id="s"),
    )  # fmt: skip
    assert [one.id for one in await runs.candidates("f")] == ["r", "s"]
    receipts = [one.change_id for one in await runs.receipts("r")]
    assert receipts == ["c-early", "c-applied", "c-held"]
    first = (await runs.candidates("f"))[0]
    started = await runs.start(first, 3)
    assert (started.epoch, started.generation, started.verdict) == (5, 3, None)
    with pytest.raises(NotFound):
        await runs.start(first.model_copy(update={"id": "none"}), 3)
    ended = Verdict.model_validate({"status": "no_action", "reason": "nothing"})
    for name, epoch in (("r", 4), ("none", 5)):
        with pytest.raises(LeaseLost):
            await runs.check(Fence(candidate_id=name, epoch=epoch))
        with pytest.raises(LeaseLost):
            await runs.finish(started.model_copy(update={"id": name, "epoch": epoch}), ended)
    await runs.check(Fence(candidate_id="r", epoch=5))
    await runs.finish(started, ended)
    found = [*await runs.candidates("f"), *await runs.candidates("g")]
    assert [(one.verdict.reason if one.verdict else None) for one in found] == [
        "nothing",
        "why",
        "why",
    ]


async def test_the_matchers_first_answer_stays(pool: Pool) -> None:
    runs = PostgresRuns(pool, counting_ids("c"))
    await put_all(pool, piece("f"), piece("g"), run("of-g", "g"))

    def part(agent: str) -> AgentFeedback:
        return AgentFeedback(
            agent_id=agent, agent_name=agent.upper(),
            learning_candidate=LearningCandidate(content=f"for {agent}", intent_hint="hint"),
        )  # fmt: skip

    feedback = Feedback.model_validate(
        {"id": "f", "source": "x", "source_id": "f", "tenant_id": "t", "agent_ids": ["a"],
         "content": "x", "status": "processing", "said_at": AT, "created_at": AT, "generation": 3}
    )  # fmt: skip
    made = await runs.save_candidates(feedback, [part("b"), part("a")])
    assert [(one.agent_id, one.content, one.epoch, one.generation) for one in made] == [
        ("b", "for b", 1, 3), ("a", "for a", 0, 3),
    ]  # fmt: skip
    assert await runs.save_candidates(feedback, [part("c"), part("d"), part("e")]) == []
    assert await runs.save_candidates(feedback, []) == ()
    assert [one.agent_id for one in await runs.candidates("f")] == ["b", "a"]
