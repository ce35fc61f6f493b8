"""Time in PostgreSQL: clocks that step back, simultaneous changes, skills that others edit."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest

from core.adapters.postgres.change_log import PostgresChangeLog
from core.adapters.postgres.knowledge import PostgresKnowledge, PostgresKnowledgePast
from core.adapters.postgres.queries import Pool, transaction
from core.adapters.postgres.search import index_document
from core.domain.errors import NotFound
from core.domain.models import SKILL_MD, Bundle, Kind, SkillFile
from core.testing.skill_store import MemorySkillStore
from tests.contracts.suites.knowledge_past import carry, step
from tests.contracts.suites.search import memory

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
_HISTORY = """
INSERT INTO history (id, knowledge_type, knowledge_id, knowledge_name, agent_id, tenant_id,
    operation, new_content, feedback_content, change_id, attempt, status, created_at)
VALUES (%(id)s, 'SKILL', 'refund', 'refund', 'a', 't', %(operation)s, %(id)s, 'x', %(id)s, 1,
    %(status)s, %(at)s)
"""


async def record(pool: Pool, *rows: tuple[str, str, float, str]) -> PostgresKnowledge:
    """Write history of the skill `refund`: (id, operation, minutes after noon, status)."""
    async with transaction(pool) as conn:
        for row_id, operation, minutes, status in rows:
            at = NOON + timedelta(minutes=minutes)
            params = {"id": row_id, "operation": operation, "at": at, "status": status}
            await conn.execute(_HISTORY, params)
    return PostgresKnowledge(pool, MemorySkillStore())


async def texts_at(knowledge: PostgresKnowledge, minutes: Sequence[float]) -> list[str]:
    texts = []
    for minute in minutes:
        try:
            at = NOON + timedelta(minutes=minute)
            texts.append((await knowledge.as_of(Kind.SKILL, "t", "refund", at))[0].content)
        except NotFound:
            texts.append("")
    return texts


async def test_a_clock_that_steps_back_does_not_turn_the_order(pool: Pool) -> None:
    rows = [("z", "CREATE", 0, "applied"), ("y", "UPDATE", 9, "applied"),
            ("a", "UPDATE", 4, "applied"), ("b", "UPDATE", 10, "applied")]  # fmt: skip
    knowledge = await record(pool, *rows)
    versions = await knowledge.versions(Kind.SKILL, "t", "refund")
    assert [item.content for item in versions] == ["z", "y", "a", "b"]
    assert [item.valid_from for item in versions] == [
        NOON + timedelta(minutes=minutes) for minutes in (0, 9, 9, 10)
    ]
    assert await texts_at(knowledge, [-1, 0, 5, 9, 10]) == ["", "z", "z", "a", "b"]


async def test_changes_of_one_moment_keep_their_order(pool: Pool) -> None:
    rows = [(name, "UPDATE", 0.0, "applied") for name in ("c", "a", "b")]
    knowledge = await record(pool, *rows)
    assert await texts_at(knowledge, [0]) == ["b"]
    versions = await knowledge.versions(Kind.SKILL, "t", "refund")
    assert [(item.version, item.content) for item in versions] == [(1, "c"), (2, "a"), (3, "b")]


async def test_reverts_count_and_failures_do_not(pool: Pool) -> None:
    rows = [("one", "CREATE", 0, "applied"), ("two", "UPDATE", 1, "applied"),
            ("no", "UPDATE", 2, "failed"), ("back", "UPDATE", 3, "reverted"),
            ("gone", "DELETE", 4, "reverted"), ("new", "CREATE", 6, "applied")]  # fmt: skip
    knowledge = await record(pool, *rows)
    assert await texts_at(knowledge, [0, 1, 2, 3, 4, 5, 6]) == [
        "one", "two", "two", "back", "", "", "new",
    ]  # fmt: skip
    last = (await knowledge.versions(Kind.SKILL, "t", "refund"))[-1]
    assert (last.version, last.content) == (4, "new")
    with pytest.raises(NotFound) as caught:
        await knowledge.as_of(Kind.SKILL, "t", "refund", NOON + timedelta(minutes=4.1))
    assert "version 3" in caught.value.hint


async def test_a_memory_from_the_future_is_superseded_with_no_negative_span(
    pool: Pool,
) -> None:
    log, knowledge = PostgresChangeLog(pool), PostgresKnowledge(pool, MemorySkillStore())
    await carry(log, step(1, None, "one"))
    async with transaction(pool) as conn:
        await conn.execute("UPDATE knowledge_versions SET valid_from = now() + interval '1 hour'")
    await carry(log, step(2, "one", "two"), step(3, "two", None), step(4, None, "again"))
    versions = await knowledge.versions(Kind.MEMORY, "t", "item")
    assert [item.content for item in versions] == ["one", "two", "again"]
    starts = [item.valid_from for item in versions]
    assert starts == [starts[0]] * 3
    assert starts[0] is not None
    found, _ = await knowledge.as_of(Kind.MEMORY, "t", "item", starts[0])
    assert found.content == "again"


async def test_a_skill_of_others_is_there_without_a_past(pool: Pool) -> None:
    await record(pool, ("one", "CREATE", 0, "applied"), ("two", "DELETE", 1, "applied"))
    past = PostgresKnowledgePast(pool)
    (deleted,) = await past.last("refund", tenant_id=None, kind=None)
    assert deleted.valid_to == NOON + timedelta(minutes=1)
    async with transaction(pool) as conn:
        skill = memory("refund", "flat text", tenant_id="t", agent_id=None)
        await index_document(conn, skill.model_copy(update={"kind": Kind.SKILL}))
    (theirs,) = await past.last("refund", tenant_id="t", kind=Kind.SKILL)
    assert (theirs.version, theirs.valid_from, theirs.valid_to) == (1, None, None)
    store = MemorySkillStore()
    document = b"---\nname: refund\ndescription: d\n---\n# Refund\n"
    await store.upload(Bundle(name="refund", files={SKILL_MD: SkillFile(data=document)}), "t")
    shown = await PostgresKnowledge(pool, store).get(Kind.SKILL, "t", "refund")
    assert (shown.version, shown.change_id) == (1, None)
