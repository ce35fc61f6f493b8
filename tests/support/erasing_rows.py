"""Rows of what a person said and taught, and what is left of them once the person is erased."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from psycopg import sql

from core.adapters.postgres.erasing import PostgresErasing
from core.adapters.postgres.pool import open_pool
from core.adapters.postgres.queries import Pool, connection
from core.testing.determinism import counting_ids
from tests.support.databases import of_owner
from tests.support.seeding import AT, Row

GONE = "[erased]"
ROLES = ("worker", "superuser")


@asynccontextmanager
async def erasing_as(role: str, database: str) -> AsyncIterator[PostgresErasing]:
    """Erase as a worker, whom the database holds to the tenant, or as one whom nothing holds."""
    async with open_pool(database if role == "worker" else of_owner(database)) as pool:
        yield PostgresErasing(pool, counting_ids("erasure"))


def feedback(feedback_id: str, author: str | None = "kim", **more: object) -> Row:
    row: dict[str, object] = {
        "id": feedback_id, "source_id": f"src-{feedback_id}", "tenant_id": "t", "author": author,
        "agent_ids": ["a"], "content": "words", "status": "completed", "said_at": AT,
    }  # fmt: skip
    return "feedback", row | more


def change(change_id: str, item: str, feedback_id: str | None = "f", **more: object) -> Row:
    row: dict[str, object] = {
        "id": change_id, "key": change_id, "tenant_id": "t", "kind": "MEMORY", "target_id": item,
        "target_name": f"name of {item}", "operation": "CREATE", "status": "applied",
        "feedback_id": feedback_id, "feedback_content": "words", "candidate_content": "words",
        "reason": "because", "after": {"content": f"text of {item}", "name": "n"},
        "request": {"reason": "because", "content": "text"}, "origin": "AGENT",
    }  # fmt: skip
    return "changes", row | more


def item(item_id: str, *, stands: bool = True, **more: object) -> Row:
    row: dict[str, object] = {
        "tenant_id": "t", "kind": "MEMORY", "item_id": item_id, "name": f"name of {item_id}",
        "name_key": item_id, "same_key": item_id, "content": f"text of {item_id}",
        "valid_to": None if stands else AT,
    }  # fmt: skip
    return "knowledge_versions", row | more


async def values(pool: Pool, table: str, key: str, column: str) -> dict[object, object]:
    """Return a column of all rows of a table by another one."""
    query = sql.SQL("SELECT {}::text AS key, {} AS value FROM {}").format(
        sql.Identifier(key), sql.Identifier(column), sql.Identifier(table)
    )
    async with connection(pool) as conn:
        rows = await (await conn.execute(query)).fetchall()
    return {row["key"]: row["value"] for row in rows}


async def erased(pool: Pool, table: str, key: str, column: str) -> set[object]:
    """Return the rows whose column is erased."""
    return {one for one, value in (await values(pool, table, key, column)).items() if value == GONE}
