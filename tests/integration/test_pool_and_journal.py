"""The pool's connections, the translation of their errors, and events that notify listeners."""

from __future__ import annotations

import json
from datetime import UTC, timedelta

import psycopg
import pytest

from core.adapters.postgres.pool import open_pool
from core.adapters.postgres.queries import Pool, connection, fetch_one, transaction
from core.adapters.postgres.reads import PostgresReader
from core.adapters.postgres.runs import PostgresJournal, write_event, write_paid_event
from core.agent.prices import UNBILLED
from core.domain.errors import ConfigurationError, DatabaseDown, InvalidInput
from core.domain.models import NO_USAGE, RunEvent, Usage
from tests.support.waiting import SOON, wait_until


async def one(pool: Pool, statement: str) -> object:
    async with connection(pool) as conn:
        (row,) = await (await conn.execute(statement)).fetchall()
        return next(iter(row.values()))


async def test_times_are_in_utc_whatever_the_server_says(database: str) -> None:
    with psycopg.connect(database, autocommit=True) as conn:
        conn.execute(f"ALTER DATABASE {conn.info.dbname} SET TimeZone TO 'Asia/Seoul'")
    async with open_pool(database) as pool:
        now = await one(pool, "SELECT now()")
    assert now.utcoffset() == timedelta(0)  # type: ignore[attr-defined]
    assert now.astimezone(UTC) == now  # type: ignore[attr-defined]


async def test_a_migration_under_a_worker_costs_each_connection_one_statement(
    database: str,
) -> None:
    async with open_pool(database, max_size=1) as pool:
        for _ in range(10):  # from the fifth time on it is prepared
            await fetch_one(pool, "inbox.get", id="x")
        with psycopg.connect(database, autocommit=True) as conn:
            conn.execute("ALTER TABLE feedback ADD COLUMN later text")
        with pytest.raises(DatabaseDown, match="prepare a statement anew"):
            await fetch_one(pool, "inbox.get", id="x")
        assert await fetch_one(pool, "inbox.get", id="x") is None


async def test_a_pool_stays_within_its_size_and_closes_all(database: str) -> None:
    async with open_pool(database, max_size=2) as pool:
        await pool.resize(2, 2)
        await pool.wait()
        assert await one(pool, _OURS) == 2
    # Its server processes end with a delay.
    with psycopg.connect(database, autocommit=True) as conn:
        wait_until(lambda: conn.execute(_OURS).fetchone() == (0,))


async def test_a_transaction_that_stands_still_lets_go_of_its_locks(database: str) -> None:
    async with open_pool(database, silence=0.2) as pool:
        standing = transaction(pool)
        conn = await standing.__aenter__()
        await conn.execute("LOCK TABLE feedback IN ACCESS EXCLUSIVE MODE")
        assert await fetch_one(pool, "inbox.get", id="x") is None  # it waits for the lock
        with pytest.raises(DatabaseDown):
            await standing.__aexit__(None, None, None)


async def test_connections_that_the_server_closed_are_replaced_unseen(pool: Pool) -> None:
    before = await one(pool, "SELECT pg_backend_pid()")
    with psycopg.connect(pool.conninfo, autocommit=True) as conn:  # type: ignore[arg-type]
        conn.execute("SELECT pg_terminate_backend(%s, 5000)", (before,))
    assert await one(pool, "SELECT pg_backend_pid()") != before


@pytest.mark.parametrize(
    ("statement", "error"),
    [
        ("SELECT * FROM nothing_of_ours", ConfigurationError),
        ("SELECT E'\\\\uD800'::jsonb", InvalidInput),
        ("SELECT pg_terminate_backend(pg_backend_pid())", DatabaseDown),
    ],
)
async def test_errors_are_the_programs_own(
    pool: Pool, statement: str, error: type[Exception]
) -> None:
    with pytest.raises(error):
        await one(pool, statement)


async def test_a_transaction_rolls_back_on_any_error(pool: Pool) -> None:
    async def insert_and_break() -> None:
        async with transaction(pool) as conn:
            await conn.execute("INSERT INTO agents (id, tenant_id, name) VALUES ('a', 't', 'n')")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await insert_and_break()
    assert await one(pool, "SELECT count(*) FROM agents") == 0


async def test_an_event_is_stored_and_whoever_listens_is_told(pool: Pool) -> None:
    big = {"text": "글" * 10_000, "event": "a name the logger has taken"}
    with psycopg.connect(pool.conninfo, autocommit=True) as conn:  # type: ignore[arg-type]
        conn.execute("LISTEN run_events")
        await PostgresJournal(pool).emit(
            RunEvent(name="feedback.claimed", feedback_id="f1", data={**big})
        )
        (told,) = conn.notifies(timeout=SOON, stop_after=1)
    (stored,) = await PostgresReader(pool).events("f1")
    assert stored.data == big
    assert json.loads(told.payload) == {
        "id": stored.id,
        "name": "feedback.claimed",
        "tenant_id": None,
        "feedback_id": "f1",
    }


_OURS = (
    "SELECT count(*) FROM pg_stat_activity"
    " WHERE application_name = 'skill-worker' AND datname = current_database()"
)


@pytest.mark.parametrize(
    ("alone", "spent", "flushed"),
    [
        (True, NO_USAGE, "off"),
        (True, Usage(model_calls=1), "on"),
        (False, NO_USAGE, "on"),
    ],
)
async def test_only_a_lone_event_that_costs_nothing_is_not_waited_for(
    pool: Pool, alone: bool, spent: Usage, flushed: str
) -> None:
    async with connection(pool) as conn:
        await conn.execute("SET synchronous_commit TO on")
        async with conn.transaction():
            event = RunEvent(name="model.called")
            if spent.model_calls:
                await write_paid_event(conn, event, spent, UNBILLED)
            else:
                await write_event(conn, event, alone=alone)
            (row,) = await (await conn.execute("SHOW synchronous_commit")).fetchall()
        assert row["synchronous_commit"] == flushed
        (after,) = await (await conn.execute("SHOW synchronous_commit")).fetchall()
        assert after["synchronous_commit"] == "on"
