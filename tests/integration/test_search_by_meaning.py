"""Search by meaning, whole: settings, a real PostgreSQL with pgvector, a server over HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import psycopg
import pytest
from pydantic import SecretStr
from structlog.testing import capture_logs

from core.adapters.postgres.pool import open_pool
from core.adapters.postgres.queries import transaction
from core.adapters.postgres.search import index_document
from core.agent.offline.model import OfflineChatModel
from core.app.program import App, open_app
from core.app.settings import Settings, load_settings
from core.domain.models import Hit
from core.knowledge.embedding_backfill import CALL_SECONDS
from tests.contracts.suites.search import memory
from tests.support.embedding_server import EmbeddingServer, embedding_server
from tests.support.openai_server import error, hangs
from tests.support.recycled import RecycledDatabases
from tests.support.waiting import SOON, within

TIMEOUT = 0.5  # of a question to the model
SENSES = {"환불": "refund", "cash back": "refund"}


@pytest.fixture
def database(recycled_with_vectors: RecycledDatabases) -> Iterator[str]:
    with recycled_with_vectors.one() as conninfo:
        yield conninfo


@pytest.fixture
async def provider() -> AsyncIterator[EmbeddingServer]:
    async with embedding_server(SENSES) as served:
        yield served


@pytest.fixture
def settings(database: str, tmp_path: Path, provider: EmbeddingServer) -> Settings:
    return settings_of(database, tmp_path, provider)


def settings_of(database: str, home: Path, provider: EmbeddingServer) -> Settings:
    given = {
        "skill_worker_home": home,
        "llm_model": "openai:chat",
        "llm_proxy_url": provider.url,
        "embedding_model": "openai:small",
        "embedding_timeout_seconds": TIMEOUT,
    }
    loaded = load_settings(given, env_file=None)
    return loaded.model_copy(update={"database_url": SecretStr(database)})


async def put(settings: Settings, item_id: str, content: str, *, tenant_id: str = "t") -> None:
    await put_all(settings, {item_id: content}, tenant_id)


async def put_all(settings: Settings, contents: dict[str, str], tenant_id: str = "t") -> None:
    assert settings.database_url is not None
    url = settings.database_url.get_secret_value()
    async with open_pool(url) as pool, transaction(pool) as conn:
        for item_id, content in contents.items():
            await index_document(conn, memory(item_id, content, tenant_id=tenant_id))


async def work_off(settings: Settings) -> None:
    """Run a worker until no feedback and no document without a vector is left."""
    async with open_app(settings, model=True, chat=OfflineChatModel()) as app:
        await app.run(True, 1, asyncio.Event(), lambda _counts: None)


async def hits(app: App, query: str, *, tenant_id: str = "t") -> list[Hit]:
    return [
        *await app.stores.search.search(
            query, tenant_id=tenant_id, agent_id="a", kind=None, limit=5
        )
    ]


async def found(settings: Settings, query: str, *, tenant_id: str = "t") -> list[str]:
    async with open_app(settings) as app:
        return [hit.id for hit in await hits(app, query, tenant_id=tenant_id)]


async def test_what_shares_no_word_is_found_once_a_worker_has_run(settings: Settings) -> None:
    await put(settings, "refund", "환불은 7일 안에")
    await put(settings, "stock", "재고를 센다")
    assert await found(settings, "cash back") == []
    assert await found(settings, "환불") == ["refund"]
    await work_off(settings)
    async with open_app(settings) as app:
        (hit,) = await hits(app, "cash back")
    assert (hit.id, hit.why) == ("refund", "close in meaning")
    assert 0 < hit.score <= 1


async def test_a_running_worker_embeds_what_is_new_and_what_changes(settings: Settings) -> None:
    stop = asyncio.Event()
    async with open_app(settings, model=True, chat=OfflineChatModel()) as app:
        running = asyncio.create_task(app.run(False, 1, stop, lambda _counts: None))
        async with asyncio.timeout(SOON):
            await put(settings, "m", "환불은 7일 안에")
            while [hit.id for hit in await hits(app, "cash back")] != ["m"]:
                await asyncio.sleep(0.05)
            await put(settings, "m", "재고를 센다")
            assert await hits(app, "cash back") == []
            while not (again := await hits(app, "재고")) or "meaning" not in again[0].why:
                await asyncio.sleep(0.05)
            stop.set()
            await running


async def test_tenants_do_not_see_each_other(settings: Settings) -> None:
    await put(settings, "ours", "환불은 7일 안에")
    await put(settings, "theirs", "환불은 9일 안에", tenant_id="u")
    await work_off(settings)
    assert await found(settings, "cash back") == ["ours"]
    assert await found(settings, "cash back", tenant_id="u") == ["theirs"]


@pytest.mark.parametrize("turn", [error(503), error(401), hangs])
async def test_with_the_model_down_words_decide_at_once(
    settings: Settings, provider: EmbeddingServer, turn: object
) -> None:
    await put(settings, "refund", "환불은 7일 안에")
    await work_off(settings)
    provider.instead = turn  # type: ignore[assignment]
    asked = len(provider.asked)
    async with open_app(settings) as app:
        with capture_logs() as logs:
            await hits(app, "환불 규정")
            with within(20 * TIMEOUT):
                for number in range(20):
                    assert [hit.id for hit in await hits(app, f"환불 {number}")] == ["refund"]
    assert [entry["event"] for entry in logs] == ["embeddings.missed"]
    assert len(provider.asked) == asked + 1


async def test_a_model_that_is_down_keeps_no_worker_from_ending(
    settings: Settings, provider: EmbeddingServer
) -> None:
    await put(settings, "refund", "환불은 7일 안에")
    provider.instead = error(503)
    async with asyncio.timeout(SOON):
        await work_off(settings)
    provider.instead = None
    assert await found(settings, "환불") == ["refund"]


async def test_a_worker_stops_at_once_while_the_model_hangs(
    settings: Settings, provider: EmbeddingServer
) -> None:
    await put(settings, "refund", "환불은 7일 안에")
    provider.instead = hangs
    stop = asyncio.Event()
    async with open_app(settings, model=True, chat=OfflineChatModel()) as app:
        running = asyncio.create_task(app.run(True, 1, stop, lambda _counts: None))
        async with asyncio.timeout(SOON):
            while not provider.asked:
                await asyncio.sleep(0.01)
        stop.set()
        async with asyncio.timeout(CALL_SECONDS / 2):
            await running


async def test_another_model_has_its_own_vectors(
    settings: Settings, database: str, provider: EmbeddingServer
) -> None:
    await put(settings, "refund", "환불은 7일 안에")
    await work_off(settings)
    other = settings.model_copy(update={"embedding_model": "openai:large"})
    provider.model.dimension = 384
    assert await found(other, "cash back") == []
    await work_off(other)
    assert await found(other, "cash back") == ["refund"]
    with psycopg.connect(database, autocommit=True) as conn:
        count = "SELECT count(*) FROM search_vectors"
        assert conn.execute(count).fetchone() == (2,)
        conn.execute(
            "UPDATE search_models SET used_at = now() - interval '2 days'"
            " WHERE name = 'openai:small'"
        )
        await work_off(other)
        assert conn.execute(count).fetchone() == (1,)
    assert await found(other, "cash back") == ["refund"]


async def test_a_model_that_changed_under_its_name_embeds_all_again(
    settings: Settings, provider: EmbeddingServer
) -> None:
    await put(settings, "old", "환불은 7일 안에")
    await work_off(settings)
    provider.model.dimension = 512
    assert await found(settings, "환불") == ["old"]
    await put(settings, "new", "환불은 9일 안에")
    await work_off(settings)
    assert {*await found(settings, "cash back")} == {"old", "new"}


async def test_two_workers_embed_each_document_once(
    settings: Settings, provider: EmbeddingServer
) -> None:
    await put_all(settings, {f"m{number}": f"item{number}" for number in range(150)})
    await asyncio.gather(work_off(settings), work_off(settings))
    while "item0" not in provider.texts:  # the second may have come first, and found it busy
        await work_off(settings)
    embedded = [text for text in provider.texts if text.startswith("item")]
    assert sorted(embedded) == sorted(f"item{number}" for number in range(150))


async def test_offline_asks_no_embedding_model(
    settings: Settings, provider: EmbeddingServer
) -> None:
    await put(settings, "refund", "환불은 7일 안에")
    async with open_app(settings, model=True, offline=True) as app:
        await app.run(True, 1, asyncio.Event(), lambda _counts: None)
        assert [hit.id for hit in await hits(app, "환불")] == ["refund"]
    assert provider.asked == []
