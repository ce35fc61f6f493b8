"""Schemas: migrated once by many processes, refused if they are newer or foreign."""

from __future__ import annotations

import psycopg
import pytest

from core.adapters.postgres.migrations import jobs_scripts, migrate, require_current, status
from core.adapters.postgres.pool import open_pool
from core.adapters.postgres.queries import Pool
from core.domain.errors import ConfigurationError, DatabaseDown
from tests.support.databases import of_owner
from tests.support.forked import script

_MIGRATE = """
import asyncio, sys
from core.adapters.postgres.migrations import migrate
assert asyncio.run(migrate(sys.argv[1])).up_to_date
"""

_DROP_JOB_ENGINE = """
DO $$
DECLARE
    found text;
    everything text[] := ARRAY(
        SELECT format('TABLE IF EXISTS %s', oid::regclass) FROM pg_class
        WHERE relname LIKE 'procrastinate%' AND relkind = 'r'
        UNION ALL
        SELECT format('FUNCTION IF EXISTS %s', oid::regprocedure) FROM pg_proc
        WHERE proname LIKE 'procrastinate%'
        UNION ALL
        SELECT format('TYPE IF EXISTS %s', oid::regtype) FROM pg_type
        WHERE typname LIKE 'procrastinate%' AND typcategory IN ('E', 'C'));
BEGIN
    FOREACH found IN ARRAY everything LOOP
        EXECUTE 'DROP ' || found || ' CASCADE';
    END LOOP;
END $$
"""


def run(conninfo: str, statement: str) -> None:
    with psycopg.connect(of_owner(conninfo), autocommit=True) as conn:
        conn.execute(statement)


async def test_an_empty_database_has_no_versions_and_is_not_touched(empty_database: str) -> None:
    found = await status(empty_database)
    assert not found.up_to_date
    assert not found.newer_than_code
    assert (found.ours.current, found.procrastinate.current, found.saver.current) == (None,) * 3
    assert await status(empty_database) == found


async def test_four_processes_at_once_migrate_once(empty_database: str) -> None:
    processes = [script(_MIGRATE, empty_database) for _ in range(4)]
    assert [process.wait(100) for process in processes] == [0, 0, 0, 0]
    assert (await status(empty_database)).up_to_date
    async with open_pool(empty_database) as pool:
        await require_current(pool)


async def test_migrating_again_changes_nothing(database: str) -> None:
    before = await status(database)
    assert await migrate(database) == before
    assert before.up_to_date


async def test_a_database_without_the_schema_is_named_before_work_starts(
    empty_database: str,
) -> None:
    async with open_pool(empty_database) as pool:
        with pytest.raises(ConfigurationError) as caught:
            await require_current(pool)
    assert "db migrate" in caught.value.hint


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE alembic_version SET version_num = '9999'",
        "INSERT INTO component_versions VALUES ('procrastinate', '99.00.00_01_pre_new.sql')",
    ],
)
async def test_a_newer_database_is_refused(database: str, pool: Pool, statement: str) -> None:
    run(database, statement)
    assert (await status(database)).newer_than_code
    with pytest.raises(ConfigurationError, match="newer"):
        await require_current(pool)
    with pytest.raises(ConfigurationError, match="newer") as caught:
        await migrate(database)
    assert "Upgrade" in caught.value.hint


async def test_an_older_job_engine_is_brought_to_date(database: str) -> None:
    scripts = jobs_scripts()
    newest_it_has = next(n for n, path in enumerate(scripts) if path.name.startswith("03.00.00_50"))
    run(database, _DROP_JOB_ENGINE)
    for path in scripts[: newest_it_has + 1]:
        run(database, path.read_text("utf-8"))
    run(database, "DELETE FROM component_versions WHERE component = 'procrastinate'")
    version = scripts[newest_it_has].name
    run(database, f"INSERT INTO component_versions VALUES ('procrastinate', '{version}')")
    assert (await status(database)).procrastinate.current == version
    assert (await migrate(of_owner(database))).up_to_date
    run(database, "SELECT worker_id, abort_requested FROM procrastinate_jobs")
    run(database, "SELECT procrastinate_retry_job_v2(0, NULL, NULL, NULL, NULL) WHERE false")


async def test_another_programs_job_engine_is_left_alone(empty_database: str) -> None:
    run(empty_database, "CREATE TABLE procrastinate_jobs (id bigint)")
    with pytest.raises(ConfigurationError, match="another program"):
        await migrate(empty_database)


async def test_a_server_that_is_not_there_is_said_to_be_down() -> None:
    gone = "host=/nonexistent connect_timeout=2"
    with pytest.raises(DatabaseDown, match="does not answer"):
        await migrate(gone)
    with pytest.raises(DatabaseDown, match="does not answer"):
        async with open_pool(gone):
            pytest.fail("it opened")


@pytest.mark.parametrize("conninfo", ["p4ssw0rd", "postgresql://u:p4ssw0rd@h/d?bad=1"])
async def test_a_string_that_is_no_connection_string_is_not_repeated(conninfo: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        async with open_pool(conninfo):
            pytest.fail("it opened")
    assert "p4ssw0rd" not in str(caught.value) + caught.value.hint
    with pytest.raises(ConfigurationError, match="no connection string"):
        await migrate(conninfo)
