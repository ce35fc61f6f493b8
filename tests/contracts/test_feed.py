"""The event feed in PostgreSQL."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import psycopg
import pytest

from core.adapters.postgres.feed import PostgresFeed, query_of
from core.adapters.postgres.queries import Pool, connection, transaction
from core.adapters.postgres.runs import PostgresJournal, write_event
from core.domain.models import EventFilter
from core.domain.ports import Feed
from tests.contracts.suites.feed import ALL, LONG, FeedContract, event, read, told
from tests.support.postgres_stores import PostgresStores


class TestFeed(PostgresStores, FeedContract):
    @pytest.fixture
    def feed(self, pool: Pool) -> Feed:
        return PostgresFeed(pool)


async def test_what_commits_late_is_waited_for_and_comes_first(pool: Pool) -> None:
    feed = PostgresFeed(pool)
    cursor = await feed.cursor()
    async with transaction(pool) as early:
        await write_event(early, event("tool.called_early"))
        async with transaction(pool) as late:
            await write_event(late, event("tool.called_late"))
        page = await feed.after(cursor, ALL, 10)
        assert (told(page), page.is_behind) == ([], True)
        page = await feed.after(page.cursor, ALL, 10)
        assert (told(page), page.is_behind) == ([], True)
    names, _ = await read(feed, page.cursor)
    assert names == ["tool.called_early", "tool.called_late"]


async def test_of_two_open_ones_the_later_may_be_seen_first_and_none_is_missed(
    pool: Pool,
) -> None:
    """The older transaction writes after the younger one: its id is higher, its cursor lower."""
    feed = PostgresFeed(pool)
    seen: list[str] = []
    cursor = await feed.cursor()
    async with transaction(pool) as older:
        await older.execute("SELECT pg_current_xact_id()")
        async with transaction(pool) as younger:
            await write_event(younger, event("tool.called_younger"))
        page = await feed.after(cursor, ALL, 10)
        seen += told(page)
        await write_event(older, event("tool.called_older"))
    seen += (await read(feed, page.cursor))[0]
    assert sorted(seen) == ["tool.called_older", "tool.called_younger"]


async def test_what_is_rolled_back_is_never_given(pool: Pool) -> None:
    feed = PostgresFeed(pool)

    async def write_and_break() -> None:
        async with transaction(pool) as conn:
            await write_event(conn, event())
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await write_and_break()
    assert (await read(feed, None))[0] == []


async def test_a_full_page_of_what_is_settled_goes_on_behind_its_last_event(pool: Pool) -> None:
    feed = PostgresFeed(pool)
    async with transaction(pool) as conn:
        for letter in "abc":
            await write_event(conn, event(f"tool.called_{letter}"))
    await read(feed, None)
    page = await feed.after(None, ALL, 2)
    assert (told(page), page.is_full) == (["tool.called_a", "tool.called_b"], True)
    assert page.cursor == page.events[-1].cursor
    assert (await read(feed, page.cursor))[0] == ["tool.called_c"]


async def test_a_dump_of_another_server_comes_before_what_is_written_here(pool: Pool) -> None:
    journal = PostgresJournal(pool)
    for letter in "ab":
        await journal.emit(event(f"tool.called_{letter}"))
    async with connection(pool) as conn:
        await conn.execute("UPDATE run_events SET txid = '9000000000000'")
    await journal.emit(event("tool.called_c"))
    names, _ = await read(PostgresFeed(pool), None)
    assert names == ["tool.called_a", "tool.called_b", "tool.called_c"]


async def test_a_reader_goes_on_where_it_was_after_a_restart(pool: Pool) -> None:
    journal = PostgresJournal(pool)
    await journal.emit(event("tool.called_a"))
    _, cursor = await read(PostgresFeed(pool), None)
    await journal.emit(event("tool.called_b"))
    assert (await read(PostgresFeed(pool), cursor))[0] == ["tool.called_b"]


async def test_what_runs_long_in_another_database_holds_nothing_up(
    pool: Pool, empty_database: str
) -> None:
    feed = PostgresFeed(pool)
    with psycopg.connect(empty_database) as other:
        other.execute("SELECT pg_current_xact_id()")
        await PostgresJournal(pool).emit(event())
        assert (await read(feed, None))[0] == ["tool.called"]
        cursor = await feed.cursor()
        await PostgresJournal(pool).emit(event("tool.called_later"))
        assert (await read(feed, cursor))[0] == ["tool.called_later"]


async def test_a_damaged_row_is_told_of_without_what_cannot_be_read(pool: Pool) -> None:
    await PostgresJournal(pool).emit(event())
    async with connection(pool) as conn:
        await conn.execute("""UPDATE run_events SET data = '[1]', state = '{"feedback": 1}'""")
    await read(PostgresFeed(pool), None)
    (placed,) = (await PostgresFeed(pool).after(None, ALL, 10)).events
    assert (placed.event.name, placed.event.data) == ("tool.called", {})


async def test_all_who_wait_share_one_connection_which_goes_with_the_last(pool: Pool) -> None:
    feed = PostgresFeed(pool)
    async with feed.listening(ALL) as one:
        async with feed.listening(ALL) as other:
            for bell in (one, other):
                await bell.wait(LONG)  # rings once the connection stands
            assert await _listening(pool) == 1
        assert await _listening(pool) == 1
    async with asyncio.timeout(LONG):
        while await _listening(pool):
            pass
    async with feed.listening(ALL) as again:
        await again.wait(LONG)
        assert await _listening(pool) == 1


async def test_a_lost_connection_is_made_again_and_rings(pool: Pool) -> None:
    feed = PostgresFeed(pool)
    async with feed.listening(ALL) as bell:
        await bell.wait(LONG)
        async with connection(pool) as conn:
            await conn.execute(
                "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
                " WHERE datname = current_database() AND query = 'LISTEN run_events'"
            )
        async with asyncio.timeout(LONG / 2):
            await bell.wait(LONG)
        await PostgresJournal(pool).emit(event())
        async with asyncio.timeout(LONG / 2):
            await bell.wait(LONG)


async def test_a_bell_of_one_piece_does_not_ring_for_another(pool: Pool) -> None:
    feed = PostgresFeed(pool)
    wanted = EventFilter(feedback_id="f1")
    async with feed.listening(wanted) as bell, feed.listening(ALL) as all_:
        await bell.wait(LONG)
        await all_.wait(LONG)
        await PostgresJournal(pool).emit(event(piece="f2"))
        await all_.wait(LONG)
        assert not bell.is_rung
        await PostgresJournal(pool).emit(event(piece="f1"))
        async with asyncio.timeout(LONG / 2):
            await bell.wait(LONG)


@pytest.mark.parametrize("wanted", [ALL, EventFilter(tenant_id="t"), EventFilter(feedback_id="f")])
async def test_a_look_reads_an_index_whatever_is_wanted(pool: Pool, wanted: EventFilter) -> None:
    async with connection(pool) as conn:
        await conn.execute(
            "INSERT INTO run_events (name, tenant_id, feedback_id)"
            " SELECT 'tool.called', n % 7, n / 9 FROM generate_series(1, 20000) AS n"
        )
        await conn.execute("ANALYZE run_events")
        params = {**wanted.model_dump(), "names": [], "txid": "5", "id": 7, "limit": 100}
        query = "EXPLAIN (FORMAT JSON) " + query_of(wanted)
        (row,) = await (await conn.execute(query, params)).fetchall()
    (scan,) = [part for part in _parts(row["QUERY PLAN"][0]["Plan"]) if _reads_events(part)]
    assert scan["Node Type"] in {"Index Scan", "Bitmap Heap Scan"}


def _parts(plan: dict[str, object]) -> Iterator[dict[str, object]]:
    yield plan
    for part in plan.get("Plans", ()):  # type: ignore[attr-defined]
        yield from _parts(part)


def _reads_events(part: dict[str, object]) -> bool:
    return part.get("Relation Name") == "run_events"


async def _listening(pool: Pool) -> int:
    async with connection(pool) as conn:
        found = await conn.execute(
            "SELECT FROM pg_stat_activity"
            " WHERE datname = current_database() AND query = 'LISTEN run_events'"
        )
        return found.rowcount
