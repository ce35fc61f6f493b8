"""Lists that filter most rows out continue where they stopped, and use their indexes."""

from __future__ import annotations

import pytest

from core.adapters.postgres.inbox import PostgresInbox
from core.adapters.postgres.jobs import Jobs
from core.adapters.postgres.queries import Pool, connection
from core.adapters.postgres.reads import PostgresReader
from core.domain.models import FeedbackFilter
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
        SELECT n, 's', n, '', 't' || n % 2000, ARRAY['a'], 'x' FROM generate_series(1, 20000) n""",
    "changes": """
        INSERT INTO changes (id, key, digest, tenant_id, agent_id, kind, target_id, target_name,
                             operation, base_hash, status)
        SELECT n, n, '', 't' || n % 2000, 'a' || n % 2000, 'MEMORY', 'm' || n % 2000, '', 'CREATE',
               '', CASE WHEN n % 2000 = 7 THEN 'held' ELSE 'applied' END
        FROM generate_series(1, 20000) n""",
    "history": """
        INSERT INTO history (id, knowledge_type, knowledge_id, knowledge_name, agent_id, tenant_id,
                             operation, feedback_content, change_id, attempt, status)
        SELECT n, 'MEMORY', 'm' || n % 2000, '', 'a' || n % 2000, 't' || n % 2000, 'CREATE', '', n,
               1, 'applied' FROM generate_series(1, 20000) n""",
}
