"""Lists that filter most rows out continue where they stopped, and use their indexes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence

import pytest
from psycopg import AsyncCursor
from psycopg.rows import DictRow, dict_row
from psycopg_pool import AsyncConnectionPool

from core.adapters.postgres.inbox import PostgresInbox
from core.adapters.postgres.jobs import Jobs
from core.adapters.postgres.queries import Pool, connection
from core.adapters.postgres.reads import PostgresReader
from core.domain.models import ChangeFilter, FeedbackFilter, HistoryFilter
from core.testing.determinism import counting_ids
from tests.contracts.suites.inbox import piece


@pytest.fixture
async def inbox(pool: Pool) -> PostgresInbox:
    return PostgresInbox(pool, Jobs(pool), counting_ids("feedback"))


@pytest.mark.parametrize("reach", [1, 2, 3, 4, 10, 11])
@pytest.mark.parametrize("limit", [1, 3])
async def test_every_piece_is_found_once_however_far_a_page_looks(
    pool: Pool, inbox: PostgresInbox, reach: int, limit: int
) -> None:
    wanted = {1, 2, 6, 9}
    texts = ["찾는 말" if n in wanted else "다른 말" for n in range(10)]
    await inbox.add("cli", [piece(f"s-{n}", text) for n, text in enumerate(texts)])
    reader, cursor = PostgresReader(pool, reach=reach), None
    seen: list[str] = []
    for _ in range(20):
        page, cursor = await reader.feedback(
            FeedbackFilter(text="찾는"), limit=limit, cursor=cursor
        )
        assert len(page) <= limit
        seen += [item.source_id for item in page]
        if cursor is None:
            break
    assert seen == ["s-9", "s-6", "s-2", "s-1"]


async def test_a_page_looks_no_further_than_it_reaches(pool: Pool, inbox: PostgresInbox) -> None:
    await inbox.add("cli", [piece(f"s-{n}", "찾는 말") for n in range(5)])
    reader, wanted = PostgresReader(pool, reach=2), FeedbackFilter(text="찾는")
    page, cursor = await reader.feedback(wanted, limit=9, cursor=None)
    assert [item.source_id for item in page] == ["s-4", "s-3"]
    assert cursor is not None


@pytest.fixture
async def sent(database: str) -> AsyncIterator[tuple[Pool, list[object]]]:
    """A pool, and all rows that the server sends over it."""
    rows: list[object] = []

    def remembering(cursor: AsyncCursor[DictRow]) -> Callable[[Sequence[object]], DictRow]:
        make = dict_row(cursor)
        return lambda values: rows.append(values) or make(values)

    kwargs = {"autocommit": True, "row_factory": remembering}
    async with AsyncConnectionPool(database, kwargs=kwargs, min_size=1) as pool:
        yield pool, rows


async def test_of_a_page_one_row_more_is_sent_than_it_shows(
    sent: tuple[Pool, list[object]],
) -> None:
    pool, rows = sent
    async with connection(pool) as conn:
        for fill in FILL.values():
            await conn.execute(fill.replace("20000", "9").encode())
    reader = PostgresReader(pool)
    for read in (
        lambda: reader.feedback(FeedbackFilter(), limit=2, cursor=None),
        lambda: reader.feedback(FeedbackFilter(text="x"), limit=2, cursor=None),
        lambda: reader.changes(ChangeFilter(), limit=2, cursor=None),
        lambda: reader.history(HistoryFilter(), limit=2, cursor=None),
    ):
        rows.clear()
        page, _ = await read()
        assert (len(page), len(rows)) == (2, 3)


LISTS = (
    ("feedback", "tenant_id = 't7'"),
    ("changes", "tenant_id = 't7'"),
    ("changes", "agent_id = 'a7'"),
    ("changes", "target_id = 'm7'"),
    ("changes", "status = ANY(ARRAY['held'])"),
    ("history", "tenant_id = 't7'"),
    ("history", "agent_id = 'a7'"),
    ("history", "knowledge_id = 'm7'"),
)


async def test_a_list_of_little_among_much_reads_no_whole_table(pool: Pool) -> None:
    async with connection(pool) as conn:
        for table, fill in FILL.items():
            await conn.execute(fill.encode())
            await conn.execute(f"ANALYZE {table}".encode())
        for table, condition in LISTS:
            plan = await conn.execute(
                f"EXPLAIN SELECT * FROM {table} WHERE {condition}"
                " ORDER BY created_at DESC, id DESC LIMIT 51".encode()
            )
            told = "\n".join(row["QUERY PLAN"] for row in await plan.fetchall())
            assert f"{table}_by_" in told, told
            assert f"{table}_by_age " not in told, told
            assert "Seq Scan" not in told, told


FILL = {
    "feedback": """
        INSERT INTO feedback (id, source, source_id, digest, tenant_id, agent_ids, content)
        SELECT n, 's', n, '', 't' || n % 800, ARRAY['a'], 'x' FROM generate_series(1, 8000) n""",
    "changes": """
        INSERT INTO changes (id, key, digest, tenant_id, agent_id, kind, target_id, target_name,
                             operation, base_hash, status)
        SELECT n, n, '', 't' || n % 800, 'a' || n % 800, 'MEMORY', 'm' || n % 800, '', 'CREATE',
               '', CASE WHEN n % 800 = 7 THEN 'held' ELSE 'applied' END
        FROM generate_series(1, 8000) n""",
    "history": """
        INSERT INTO history (id, knowledge_type, knowledge_id, knowledge_name, agent_id, tenant_id,
                             operation, feedback_content, change_id, attempt, status)
        SELECT n, 'MEMORY', 'm' || n % 800, '', 'a' || n % 800, 't' || n % 800, 'CREATE', '', n,
               1, 'applied' FROM generate_series(1, 8000) n""",
}
