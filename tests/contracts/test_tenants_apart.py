"""The database keeps tenants apart, whatever a statement asks for.

A table with a column `tenant_id` is protected by the migration; one without is named here, with why
it needs none.
"""

from __future__ import annotations

import asyncio
import os
import random
from collections.abc import Iterator
from contextvars import Context
from pathlib import Path

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo
from psycopg.errors import InsufficientPrivilege

from core.adapters.postgres.pool import open_pool
from core.adapters.postgres.queries import (
    ALL_TENANTS_ROLE,
    Pool,
    TenantConnection,
    connection,
    fetch_all,
    transaction,
)
from core.domain.errors import ConfigurationError, InvalidInput
from core.domain.tasks import in_name_of, over_all_tenants
from tests.support.databases import SERVER_VARIABLE, of_owner

NO_CONTENT = {
    **dict.fromkeys(("alembic_version", "component_versions", "checkpoint_migrations"), "versions"),
    **dict.fromkeys(
        ("procrastinate_jobs", "procrastinate_events", "procrastinate_periodic_defers"),
        "ids of feedback",
    ),
    **dict.fromkeys(("procrastinate_workers", "worker_cards"), "workers"),
    **dict.fromkeys(("model_lines", "model_permits"), "what all workers share about a model"),
    "intake_pause": "of a person without a tenant",
    "sweeps": "times of periodic tasks",
    "lesson_cursor": "a place in the list of events",
    "write_probes": "empty",
    "search_models": "names of models",
    "delivery_targets": "names of hooks, and what they last answered",
    "kind_packages": "names of packages",
    "search_postings": "hashes of words; protected by the documents they are of",
}
_COLUMNS = """
SELECT a.attname, t.typname, t.typcategory FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
WHERE a.attrelid = %s::regclass AND a.attnum > 0 AND NOT a.attisdropped AND a.attnotnull
  AND NOT a.atthasdef AND a.attidentity = ''
"""
_TABLES = """
SELECT c.relname, c.relrowsecurity AND c.relforcerowsecurity,
       EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'tenant_id'),
       ARRAY(SELECT p.polname::text FROM pg_policy p WHERE p.polrelid = c.oid ORDER BY 1)
FROM pg_class c WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace
"""
# Where a dummy of the type is none that the table takes.
_GIVEN = {
    ("access_tokens", "kind"): "token",
    ("audit_chain", "kind"): "history",
    ("calls", "via"): "api",
    ("complaints", "came"): "back",
    ("proposals", "action"): "archive",
    ("cases", "role"): "proof",
    ("lesson_evidence", "kind"): "rejected",
    ("cases", "origin"): "derived",
    ("cases", "status"): "green",
    ("uses", "way"): "shown",
    ("changes", "status"): "held",
    ("history", "status"): "applied",
    ("knowledge_versions", "kind"): "MEMORY",
    ("search_documents", "kind"): "MEMORY",
}
_DUMMY = {"S": "canary", "N": "1", "D": "now", "B": "t", "A": "{}"}
_DUMMY_OF_TYPE = {"jsonb": "{}", "bytea": "\\x00", "xid8": "1", "vector": "[1]"}

pytestmark = pytest.mark.skipif(
    SERVER_VARIABLE in os.environ, reason="on a given server all is done as its one role"
)


def _tables(conn: psycopg.Connection) -> list[str]:
    return sorted(name for name, _, has_tenant, _ in conn.execute(_TABLES) if has_tenant)


@pytest.fixture
def worker(vector_pool: Pool) -> Iterator[psycopg.Connection]:
    """A connection as a worker logs in."""
    as_it_logs_in = make_conninfo(vector_pool.conninfo, options="")
    with psycopg.connect(as_it_logs_in, autocommit=True) as conn:
        yield conn


@pytest.fixture
def canary(vector_pool: Pool, worker: psycopg.Connection) -> psycopg.Connection:
    """A worker's connection to a database where each table has one row of tenant `canary`."""
    with psycopg.connect(of_owner(vector_pool.conninfo), autocommit=True) as owner:
        owner.execute("SET session_replication_role = replica")  # no foreign keys
        for table in _tables(owner):
            row = {"tenant_id": "canary"}
            for column, kind, category in owner.execute(_COLUMNS, (table,)).fetchall():
                dummy = _DUMMY_OF_TYPE.get(kind, _DUMMY.get(category, "canary"))
                row.setdefault(column, _GIVEN.get((table, column), dummy))
            names = sql.SQL(", ").join(map(sql.Identifier, row))
            values = sql.SQL(", ").join(map(sql.Literal, row.values()))
            into = sql.SQL("INSERT INTO {} ({}) VALUES ({})")
            owner.execute(into.format(sql.Identifier(table), names, values))
        owner.execute(
            "INSERT INTO search_postings SELECT 1, id, 1, 1 FROM search_documents LIMIT 1"
        )
    return worker


def _count(conn: psycopg.Connection, table: str) -> int:
    row = conn.execute(sql.SQL("SELECT count(*) FROM {}").format(sql.Identifier(table))).fetchone()
    assert row is not None
    return int(row[0])


def _act_for(conn: psycopg.Connection, tenant: str) -> None:
    conn.execute("SELECT set_config('skill_worker.tenant', %s, false)", (tenant,))


def test_each_table_has_policies_in_force_or_no_content(vector_pool: Pool) -> None:
    with psycopg.connect(of_owner(vector_pool.conninfo)) as conn:
        for name, in_force, has_tenant, policies in conn.execute(_TABLES):
            assert has_tenant != (name in NO_CONTENT), f"{name}: a tenant_id, or a line above"
            if has_tenant:
                assert in_force, name
                assert policies == ["all_tenants", "of_owner", "own_tenant"], name
        views = conn.execute(
            "SELECT relname FROM pg_class WHERE relkind = 'v' AND relnamespace ="
            " 'public'::regnamespace AND NOT 'security_invoker=true' = ANY (reloptions)"
        )
        assert not views.fetchall()


def test_a_worker_sees_and_changes_nothing_of_another_tenant(canary: psycopg.Connection) -> None:
    tables = _tables(canary)
    assert len(tables) > 20
    for tenant in ("", "other"):
        if tenant:
            _act_for(canary, tenant)
        for table in tables:
            name = sql.Identifier(table)
            assert _count(canary, table) == 0, table
            for statement in ("UPDATE {} SET tenant_id = tenant_id", "DELETE FROM {}"):
                query = sql.SQL(statement)  # type: ignore[arg-type]
                assert canary.execute(query.format(name)).rowcount == 0, table
        assert canary.execute("DELETE FROM search_postings").rowcount == 0
    with pytest.raises(InsufficientPrivilege):
        canary.execute("INSERT INTO tenant_skills (tenant_id, name) VALUES ('canary', 'x')")
    _act_for(canary, "canary")
    assert {table for table in tables if _count(canary, table) != 1} == set()
    with pytest.raises(InsufficientPrivilege):  # nor is anything given to another
        canary.execute("UPDATE tenant_skills SET tenant_id = 'other'")
    assert canary.execute("DELETE FROM search_postings").rowcount == 1


@pytest.mark.parametrize(
    "statement",
    [
        "ALTER TABLE feedback DISABLE ROW LEVEL SECURITY",
        "DROP POLICY own_tenant ON feedback",
        "SET ROLE postgres",
        "SET row_security = off; SELECT FROM feedback",
        "TRUNCATE run_events",
        "UPDATE component_versions SET version = '0'",
        "CREATE TABLE public.mine ()",
        "CREATE FUNCTION public.mine() RETURNS int LANGUAGE sql RETURN 1",
        "CREATE ROLE mine SUPERUSER",
        "COPY feedback TO PROGRAM 'cat'",
    ],
)
def test_a_worker_can_lift_nothing(worker: psycopg.Connection, statement: str) -> None:
    with pytest.raises(InsufficientPrivilege):
        worker.execute(statement.encode())


def test_the_setting_of_the_owner_is_nothing_to_a_worker(canary: psycopg.Connection) -> None:
    canary.execute("SET skill_worker.over_tenants = 'on'")
    canary.execute("RESET skill_worker.tenant")
    assert _count(canary, "feedback") == 0


def test_nobody_borrows_a_connection_past_its_tenant() -> None:
    """After an error the session's tenant is unknown; only `connection` takes note of that."""
    core = Path(__file__).parents[2] / "core"
    found = {path.name for path in core.rglob("*.py") if "pool.connection(" in path.read_text()}
    assert found == {"queries.py", "pool.py"}


async def test_each_statement_shows_the_tenant_it_is_made_for(pool: Pool) -> None:
    """On few connections, among statements that fail, transactions rolled back and calls ended."""
    async with connection(pool) as conn:
        for tenant in ("a", "b"):
            await conn.execute("INSERT INTO tenant_skills VALUES (%s, %s)", (tenant, tenant))
    chosen = random.Random(16)

    async def ask(tenant: str | None) -> None:
        with over_all_tenants() if tenant is None else in_name_of(tenant):
            await _disturb(pool, chosen.randrange(5))
            async with transaction(pool) as conn:
                rows = await (await conn.execute("SELECT name FROM tenant_skills")).fetchall()
        assert {row["name"] for row in rows} == ({"a", "b"} if tenant is None else {tenant})

    for _ in range(30):
        await asyncio.gather(*(ask(chosen.choice(["a", "b", None])) for _ in range(5)))


async def test_work_that_does_not_say_for_whom_it_is_sees_no_row(pool: Pool) -> None:
    async with connection(pool) as conn:
        await conn.execute("INSERT INTO tenant_skills VALUES ('a', 'a'), ('', '')")

    async def forgets() -> None:
        async with connection(pool) as conn:
            rows = await conn.execute(
                "SELECT 1 FROM tenant_skills UNION ALL SELECT 1 FROM feedback"
            )
            assert not await rows.fetchall()
            assert (await conn.execute("DELETE FROM tenant_skills")).rowcount == 0
        with pytest.raises(ConfigurationError, match="row-level security"):
            async with connection(pool) as conn:
                await conn.execute("INSERT INTO tenant_skills VALUES ('a', 'b')")

    await asyncio.get_running_loop().create_task(forgets(), context=Context())
    async with connection(pool) as conn:
        found = await conn.execute("SELECT name FROM tenant_skills ORDER BY name")
        assert [row["name"] for row in await found.fetchall()] == ["", "a"]


_SHOWN = """
SELECT current_setting('skill_worker.tenant') AS tenant, current_setting('role') AS role,
       current_setting('skill_worker.over_tenants', true) AS over
"""


async def _shown(pool: Pool) -> dict[str, object]:
    async with connection(pool) as conn:
        row = await (await conn.execute(_SHOWN)).fetchone()
    assert row is not None
    return row


async def test_all_tenants_are_a_role_of_a_worker_and_a_setting_of_the_owner(
    database: str, pool: Pool
) -> None:
    unset = (await _shown(pool))["over"]
    with in_name_of("t"):
        assert await _shown(pool) == {"tenant": "t", "role": "none", "over": unset}
    assert await _shown(pool) == {"tenant": "", "role": ALL_TENANTS_ROLE, "over": unset}
    async with open_pool(of_owner(database)) as owners:
        role = (await _shown(owners))["role"]
        with in_name_of("t"):
            assert await _shown(owners) == {"tenant": "t", "role": role, "over": "off"}
        assert await _shown(owners) == {"tenant": "", "role": role, "over": "on"}


async def test_a_session_keeps_its_tenant_until_something_breaks(database: str) -> None:
    """What set it is undone by a rollback, and a session must not pass for what it is no more."""
    async with open_pool(database, max_size=1) as pool:
        await _shown(pool)
        with in_name_of("t"):
            async with transaction(pool) as conn:
                await conn.execute("SELECT")
            async with connection(pool) as conn:
                assert isinstance(conn, TenantConnection)
                assert conn.tenant == "t"
        await _shown(pool)
        with in_name_of("t"):
            await _disturb(pool, 2)
            assert (await _shown(pool))["tenant"] == "t"


async def _disturb(pool: Pool, way: int) -> None:
    try:
        if way == 0:
            await fetch_all(pool, "agents.list", tenant_id=None)
        elif way == 1:
            async with connection(pool) as conn:
                await conn.execute("SELECT '{'::jsonb")
        elif way == 2:
            async with transaction(pool) as conn:
                await conn.execute("SELECT")
                1 / 0  # noqa: B018
        elif way == 3:
            async with asyncio.timeout(0.001), connection(pool) as conn:
                await conn.execute("SELECT pg_sleep(1)")
        else:
            async with connection(pool) as conn, conn.pipeline():
                await conn.execute("SELECT")
                await conn.execute("SELECT '{'::jsonb")
    except (InvalidInput, ZeroDivisionError, TimeoutError):
        pass
