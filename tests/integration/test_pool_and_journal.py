"""The pool's connections, the translation of their errors, and events that notify listeners."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from datetime import UTC, timedelta

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from core.adapters.postgres.pool import open_pool
from core.adapters.postgres.queries import (
    Connection,
    Pool,
    Statement,
    connection,
    fetch_one,
    gathering,
    rolled_back,
    send,
    transaction,
    writing,
)
from core.adapters.postgres.reads import PostgresReader
from core.adapters.postgres.runs import PostgresJournal
from core.domain.errors import (
    ConfigurationError,
    DatabaseDown,
    InvalidInput,
    SkillWorkerError,
)
from core.domain.models import NO_USAGE, RunEvent, Usage
from tests.support.databases import alter
from tests.support.waiting import SOON, wait_until


async def one(pool: Pool, statement: str) -> object:
    async with connection(pool) as conn:
        (row,) = await (await conn.execute(statement)).fetchall()
        return next(iter(row.values()))


async def execute_text(pool: Pool, *statements: str) -> None:
    async with connection(pool) as conn:
        for statement in statements:
            await conn.execute(statement.encode())


async def test_times_are_in_utc_whatever_the_server_says(database: str) -> None:
    name = conninfo_to_dict(database)["dbname"]
    alter(database, f"ALTER DATABASE {name} SET TimeZone TO 'Asia/Seoul'")
    async with open_pool(database) as pool:
        now = await one(pool, "SELECT now()")
    assert now.utcoffset() == timedelta(0)  # type: ignore[attr-defined]
    assert now.astimezone(UTC) == now  # type: ignore[attr-defined]


async def test_the_connection_that_was_returned_last_is_lent_first(database: str) -> None:
    async with open_pool(database, max_size=3) as pool:
        async with connection(pool) as first, connection(pool) as second, connection(pool) as third:
            assert len({id(first), id(second), id(third)}) == 3
        for _ in range(2):
            async with connection(pool) as lent:
                assert lent is first
                async with connection(pool) as next_one:
                    assert next_one is second  # the third was returned before it


async def test_what_is_rolled_back_leaves_all_that_is_prepared(database: str) -> None:
    async with open_pool(database, max_size=1) as pool:
        for _ in range(10):  # from the fifth time on it is prepared
            await fetch_one(pool, "inbox.get", id="x")
        for _ in range(2):
            async with rolled_back(pool) as conn:
                await conn.execute("SELECT 1")
        prepared = "SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE '%feedback%'"
        assert await one(pool, prepared) == 1


async def test_a_migration_under_a_worker_costs_each_connection_one_statement(
    database: str,
) -> None:
    async with open_pool(database, max_size=1) as pool:
        for _ in range(10):  # from the fifth time on it is prepared
            await fetch_one(pool, "inbox.get", id="x")
        alter(database, "ALTER TABLE feedback ADD COLUMN later text")
        with pytest.raises(DatabaseDown, match="prepare a statement anew"):
            await fetch_one(pool, "inbox.get", id="x")
        assert await fetch_one(pool, "inbox.get", id="x") is None


async def test_rows_have_the_columns_that_their_statement_has_now(database: str) -> None:
    async with open_pool(database) as pool, pool.connection() as conn:
        ask = "SELECT * FROM (SELECT 1 AS a, 2 AS b) AS t"
        for _ in range(2):
            assert await (await conn.execute(ask)).fetchall() == [{"a": 1, "b": 2}]
        await conn.execute("CREATE TEMP TABLE wide (a int)")
        assert await (await conn.execute("TABLE wide", prepare=False)).fetchall() == []
        await conn.execute("ALTER TABLE wide ADD b int DEFAULT 7")
        await conn.execute("INSERT INTO wide (a) VALUES (1)")
        found = await conn.execute("TABLE wide", prepare=False)
        assert await found.fetchall() == [{"a": 1, "b": 7}]


async def test_of_two_statements_of_one_cursor_rows_are_the_last_ones(database: str) -> None:
    async with (
        open_pool(database) as pool,
        pool.connection() as conn,
        conn.pipeline(),
        conn.cursor() as cursor,
    ):
        await cursor.execute("SELECT 1 AS first")
        await cursor.execute("SELECT 2 AS second")
        assert await cursor.fetchall() == [{"second": 2}]


async def test_a_statement_that_the_server_forgot_costs_one_statement(database: str) -> None:
    async with open_pool(database, max_size=1) as pool:
        for _ in range(10):  # from the fifth time on it is prepared
            await fetch_one(pool, "inbox.get", id="x")
        await execute_text(pool, "DO $$ BEGIN EXECUTE 'DEALLOCATE ALL'; END $$")
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


@pytest.mark.parametrize("kind", [transaction, writing])
async def test_a_transaction_that_stands_still_lets_go_of_its_locks(
    database: str, kind: Callable[[Pool], AbstractAsyncContextManager[Connection]]
) -> None:
    async with open_pool(database, silence=0.2) as pool:
        standing = kind(pool)
        conn = await standing.__aenter__()
        await (await conn.execute("SELECT 1")).fetchone()
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


async def test_a_connection_that_cannot_be_had_is_the_programs_own_error(database: str) -> None:
    async with open_pool(database) as pool:
        await pool.close()
        with pytest.raises(DatabaseDown):
            await one(pool, "SELECT 1")


async def test_what_fails_as_a_connection_goes_back_is_the_programs_own_error(
    database: str,
) -> None:
    """A transaction that the block left open is committed then; the connection is not lost."""
    async with open_pool(database, max_size=1) as pool:
        with pytest.raises(SkillWorkerError, match="refused a statement"):
            await execute_text(
                pool,
                "BEGIN",
                "CREATE TEMP TABLE once (n int UNIQUE DEFERRABLE INITIALLY DEFERRED)",
                "INSERT INTO once VALUES (1), (1)",
            )
        assert await one(pool, "SELECT 1") == 1


@pytest.mark.parametrize("kind", [transaction, writing])
async def test_a_transaction_rolls_back_on_any_error(
    pool: Pool, kind: Callable[[Pool], AbstractAsyncContextManager[Connection]]
) -> None:
    async def insert_and_break() -> None:
        async with kind(pool) as conn:
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
    ("with_what_lasts", "spent", "flushed"),
    [
        (False, NO_USAGE, "off"),
        (False, Usage(model_calls=1), "on"),
        (True, NO_USAGE, "on"),
    ],
)
async def test_only_an_event_without_cost_or_company_is_not_waited_for(
    pool: Pool, with_what_lasts: bool, spent: Usage, flushed: str
) -> None:
    event = RunEvent(name="model.called")
    async with connection(pool) as conn:
        await conn.execute("SET synchronous_commit TO on")
    async with gathering(pool):
        await PostgresJournal(pool).emit(event, spent, waits=True)
        show = Statement("SHOW synchronous_commit", (), lasts=with_what_lasts)
        (shown,) = await send(pool, show)
    assert await shown.fetchone() == {"synchronous_commit": flushed}
    assert await one(pool, "SHOW synchronous_commit") == "on"


async def test_events_that_wait_go_out_before_what_is_read_next(pool: Pool) -> None:
    told: list[str] = []
    journal = PostgresJournal(pool, lambda event, _: told.append(event.name))
    async with gathering(pool):
        for name in ("feedback.claimed", "feedback.matched"):
            await journal.emit(RunEvent(name=name, feedback_id="f1"), waits=True)
        assert not told
        assert await fetch_one(pool, "inbox.get", id="f1") is None
        assert told == ["feedback.claimed", "feedback.matched"]
        await journal.emit(RunEvent(name="feedback.finished", feedback_id="f1"), waits=True)
    assert [event.name for event in await PostgresReader(pool).events("f1")] == [
        *told[:2],
        "feedback.finished",
    ]


async def test_what_waits_outlives_a_statement_that_fails(pool: Pool) -> None:
    journal = PostgresJournal(pool)
    async with gathering(pool):
        await journal.emit(RunEvent(name="feedback.claimed", feedback_id="f1"), waits=True)
        with pytest.raises(InvalidInput):
            await send(pool, Statement("SELECT %(text)s::jsonb", {"text": "{"}))
        assert not await one(pool, "SELECT count(*) FROM run_events")
    (stored,) = await PostgresReader(pool).events("f1")
    assert stored.name == "feedback.claimed"


async def test_an_event_that_cannot_be_stored_stands_in_nobody_s_way(pool: Pool) -> None:
    journal = PostgresJournal(pool)
    async with gathering(pool):
        for name, text in (("feedback.claimed", "a"), ("feedback.matched", "\0")):
            event = RunEvent(name=name, feedback_id="f1", data={"text": text})
            await journal.emit(event, waits=True)
        with pytest.raises(InvalidInput):
            await fetch_one(pool, "inbox.get", id="f1")
        assert await fetch_one(pool, "inbox.get", id="f1") is None
    (stored,) = await PostgresReader(pool).events("f1")
    assert stored.name == "feedback.claimed"
