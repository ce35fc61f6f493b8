"""What only the real vector store can get wrong: pgvector, schemas, concurrent transactions."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo
from pydantic import SecretStr

from core.adapters.postgres.migrations import migrate, require_current, status
from core.adapters.postgres.pool import open_pool
from core.adapters.postgres.queries import Pool, transaction
from core.adapters.postgres.search import index_document
from core.adapters.postgres.vectors import PostgresVectors
from core.app.bootstrap import migrate as migrate_as_set
from core.app.bootstrap import migration_status
from core.app.program import open_app
from core.app.settings import Settings, load_settings
from core.domain.errors import ConfigurationError
from core.domain.models.vectors import Embedded
from core.entrypoints.doctor import Check, CheckStatus, check_up
from tests.contracts.suites.search import memory
from tests.contracts.suites.vectors import EAST, texts
from tests.support.databases import alter, migrate_vectors, of_owner
from tests.support.embedding_server import embedding_server
from tests.support.openai_server import error


def settings_of(conninfo: str, home: Path, **given: object) -> Settings:
    loaded = load_settings({"skill_worker_home": home, "llm_model": "offline"}, env_file=None)
    urls = {
        "database_url": SecretStr(conninfo),
        "database_migration_url": SecretStr(of_owner(conninfo)),
    }
    return loaded.model_copy(update={**urls, **given})


async def put(pool: Pool, item_id: str, content: str) -> None:
    async with transaction(pool) as conn:
        await index_document(conn, memory(item_id, content))


async def embed(vectors: PostgresVectors) -> list[str]:
    """Embed a batch as EAST, and return its texts."""
    batch = await vectors.take(10, 60)
    if batch is not None:
        await vectors.begin(3, 0.0)
        made = [Embedded(d.document_id, d.revision, EAST) for d in batch.documents]
        await vectors.put(made)
    return texts(batch)


async def found(vectors: PostgresVectors) -> list[str]:
    near = await vectors.nearest(EAST, tenant_id="t", agent_id="a", kind=None, limit=9)
    return [known.id for known in near]


def tables(conninfo: str) -> set[str]:
    with psycopg.connect(conninfo) as conn:
        rows = conn.execute("SELECT relname FROM pg_class WHERE relname LIKE 'search_%'")
        rows_and_extensions = [*rows, *conn.execute("SELECT extname FROM pg_extension")]
        return {name for (name,) in rows_and_extensions}


async def test_without_an_embedding_model_nothing_of_pgvector_is_touched(
    database: str, tmp_path: Path
) -> None:
    found = await migrate_as_set(settings_of(database, tmp_path))
    assert found.up_to_date
    assert found.vectors is None
    assert not {"search_vectors", "vector"} & tables(database)


async def test_status_and_start_ask_for_the_migration_that_is_missing(
    database: str, tmp_path: Path
) -> None:
    settings = settings_of(database, tmp_path, embedding_model="openai:m")
    before = await migration_status(settings)
    assert not before.up_to_date
    assert before.vectors is not None
    assert before.vectors.current is None
    with pytest.raises(ConfigurationError) as caught:
        async with open_app(settings):
            pytest.fail("it opened")
    assert "db migrate" in caught.value.hint
    after = await migrate_as_set(settings)
    assert after.up_to_date
    assert await migration_status(settings) == after == await migrate_as_set(settings)
    assert (await status(database)).up_to_date


async def test_newer_vectors_are_refused(database: str, pool: Pool) -> None:
    await migrate_vectors(database)
    alter(database, "INSERT INTO component_versions VALUES ('skill-worker-vectors', '9999')")
    with pytest.raises(ConfigurationError, match="newer"):
        await require_current(pool, vectors=True)
    await require_current(pool)


@pytest.fixture
def humble(server: str, empty_database: str) -> Iterator[str]:
    """The connection string of a role that owns its tables, and may create no extension."""
    name = f"humble_{uuid.uuid4().hex[:8]}"
    role, humble = sql.Identifier(name), make_conninfo(empty_database, user=name)
    with psycopg.connect(empty_database, autocommit=True) as conn:
        conn.execute(sql.SQL("CREATE ROLE {} LOGIN").format(role))
        conn.execute(sql.SQL("GRANT CREATE, USAGE ON SCHEMA public TO {}").format(role))
    yield humble
    with psycopg.connect(empty_database, autocommit=True) as conn:
        conn.execute(sql.SQL("DROP OWNED BY {} CASCADE").format(role))
        conn.execute(sql.SQL("DROP ROLE {}").format(role))


async def test_a_role_that_may_not_have_pgvector_is_told_what_to_do(
    humble: str, empty_database: str
) -> None:
    with pytest.raises(ConfigurationError, match="permission denied") as caught:
        await migrate(humble, vectors=True)
    assert "CREATE EXTENSION vector" in caught.value.hint
    assert "unset EMBEDDING_MODEL" in caught.value.hint
    assert (await status(humble)).up_to_date
    with psycopg.connect(empty_database, autocommit=True) as conn:
        conn.execute("CREATE EXTENSION vector")
    assert (await migrate(humble, vectors=True)).up_to_date


async def test_pgvector_out_of_sight_is_said(empty_database: str) -> None:
    with psycopg.connect(empty_database, autocommit=True) as conn:
        conn.execute("CREATE SCHEMA hidden")
        conn.execute("CREATE EXTENSION vector SCHEMA hidden")
    with pytest.raises(ConfigurationError, match="a schema that is not searched"):
        await migrate(empty_database, vectors=True)


async def test_a_pgvector_that_cannot_compare_signs_is_said(empty_database: str) -> None:
    with psycopg.connect(empty_database, autocommit=True) as conn:
        conn.execute("CREATE EXTENSION vector")
        conn.execute("ALTER FUNCTION hamming_distance(bit, bit) RENAME TO not_there_before_0_7")
    with pytest.raises(ConfigurationError, match=r"needs pgvector 0\.7") as caught:
        await migrate(empty_database, vectors=True)
    assert "ALTER EXTENSION vector UPDATE" in caught.value.hint


async def test_what_was_known_before_is_listed(database: str, pool: Pool) -> None:
    await put(pool, "before", "before")
    await migrate_vectors(database)
    vectors = PostgresVectors(pool, "m")
    await vectors.enlist()
    await put(pool, "after", "after")
    assert await embed(vectors) == ["after", "before"]
    assert (await vectors.backlog()).documents == 2


async def test_what_was_under_way_when_the_model_came_into_use_is_listed_later(
    database: str, pool: Pool
) -> None:
    await migrate_vectors(database)
    vectors = PostgresVectors(pool, "m")
    async with transaction(pool) as conn:
        await index_document(conn, memory("slow", "slow"))
        await vectors.enlist()
    assert await embed(vectors) == []
    await vectors.enlist()
    assert await embed(vectors) == ["slow"]


async def test_a_change_under_way_is_not_waited_for(database: str, pool: Pool) -> None:
    await migrate_vectors(database)
    vectors = PostgresVectors(pool, "m")
    await vectors.enlist()
    await put(pool, "still", "still")
    await put(pool, "changing", "changing")
    async with transaction(pool) as conn:
        await index_document(conn, memory("changing", "changed"))
        assert await embed(vectors) == ["changing", "still"]
        assert await found(vectors) == ["still"]
    assert await embed(vectors) == ["changed"]
    assert {*await found(vectors)} == {"still", "changing"}


async def test_what_is_rolled_back_is_never_embedded(database: str, pool: Pool) -> None:
    await migrate_vectors(database)
    vectors = PostgresVectors(pool, "m")
    await vectors.enlist()
    async with transaction(pool) as conn, conn.transaction(force_rollback=True):
        await index_document(conn, memory("m", "text"))
    assert await embed(vectors) == []


async def test_two_models_side_by_side_leave_each_other_alone(database: str, pool: Pool) -> None:
    await migrate_vectors(database)
    one, other = PostgresVectors(pool, "one"), PostgresVectors(pool, "other")
    for vectors in (one, other):
        await vectors.enlist()
    await put(pool, "m", "text")
    assert await embed(one) == ["text"]
    assert (await found(one), await found(other)) == (["m"], [])
    assert await embed(other) == ["text"]
    await one.enlist()
    assert (await found(one), await found(other)) == (["m"], ["m"])


@pytest.mark.parametrize("shortlist", [1, 3])
async def test_of_the_shortlist_the_nearest_come_first(
    database: str, pool: Pool, shortlist: int
) -> None:
    await migrate_vectors(database)
    vectors = PostgresVectors(pool, "m", shortlist=shortlist)
    await vectors.enlist()
    for item_id in ("against", "east"):
        await put(pool, item_id, item_id)
    batch = await vectors.take(10, 60)
    assert batch is not None
    await vectors.begin(3, 0.0)
    west = tuple(-x for x in EAST)
    made = {"east": EAST, "against": west}
    await vectors.put([Embedded(d.document_id, d.revision, made[d.text]) for d in batch.documents])
    assert await found(vectors) == ["east"]


async def embeddings_check(settings: Settings) -> Check:
    return next(check for check in await check_up(settings) if check.name == "embeddings")


async def test_the_doctor_tells_of_search_by_meaning(database: str, tmp_path: Path) -> None:
    assert "off" in (await embeddings_check(settings_of(database, tmp_path))).detail
    async with embedding_server() as provider:
        settings = settings_of(
            database, tmp_path, embedding_model="openai:m", llm_proxy_url=provider.url
        )
        # The database check says why.
        assert (await embeddings_check(settings)).status is CheckStatus.OK
        await migrate_vectors(database)
        async with open_pool(database) as pool:
            vectors = PostgresVectors(pool, "openai:m")
            await put(pool, "m", "text")
            check = await embeddings_check(settings)
            assert check.status is CheckStatus.WARN
            assert "vectors of 256 numbers; 1 of 1 documents wait" in check.detail
            await vectors.enlist()
            await vectors.put_off("no money", None)
            assert "no money" in (await embeddings_check(settings)).detail
            await vectors.put([])
            await embed(vectors)
        check = await embeddings_check(settings)
        assert check.status is CheckStatus.OK
        provider.instead = error(401)
        check = await embeddings_check(settings)
        assert (check.status, check.kind) == (CheckStatus.FAIL, "configuration")
        unknown = settings.model_copy(update={"embedding_model": "mistralai:m"})
        check = await embeddings_check(unknown)
        assert (check.status, check.fix) == (CheckStatus.FAIL, "pip install langchain-mistralai")
