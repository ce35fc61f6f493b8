"""A worker's health over PostgreSQL: what is read from where, and that nobody can overload it."""

from __future__ import annotations

import asyncio
import os
import time
import uuid
from collections.abc import AsyncIterator, Collection
from contextlib import AsyncExitStack
from pathlib import Path

import httpx
import pytest

from core.adapters.embedded.postgres import Cluster, embedded_postgres, server_user
from core.adapters.postgres.figures import PostgresBacklog
from core.adapters.postgres.inbox import PostgresInbox
from core.adapters.postgres.jobs import Jobs
from core.adapters.postgres.pool import POOL_SIZE
from core.adapters.postgres.queries import Pool, connection
from core.app.bootstrap import PodHost, computer_use
from core.app.health.app import create_app
from core.app.health.health import PATIENCE_SECONDS, Health, Watched
from core.app.program import open_app
from core.app.settings import Settings
from core.domain.models import NO_USAGE, NewFeedback, PauseKind, RunEvent
from core.testing.determinism import counting_ids
from tests.support.databases import HOME_VARIABLE, url_of
from tests.support.metrics import samples
from tests.support.used_home import used_home
from tests.support.waiting import SOON, within

PIECES = [NewFeedback(tenant_id="t", agent_ids=("a",), content=f"원화 {n}") for n in range(2)]


@pytest.fixture
def home() -> Path:
    return Path(os.environ[HOME_VARIABLE]) / uuid.uuid4().hex[:8]


@pytest.fixture
async def health() -> Health:
    return Health(stopping=lambda: False, clock=time.monotonic)


@pytest.fixture
async def client(health: Health) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(create_app(health))
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as opened:
        yield opened


async def no_pauses() -> Collection[PauseKind]:
    return ()


async def test_many_scrapes_at_once_ask_the_database_no_more_than_one(
    pool: Pool, health: Health, client: httpx.AsyncClient
) -> None:
    await PostgresInbox(pool, Jobs(pool), counting_ids("feedback")).add("cli", PIECES)
    backlog = PostgresBacklog(pool)
    watched = Watched(probes={}, backlog=backlog, pauses=no_pauses, running=lambda: 0)
    async with health.watching(watched):
        before = pool.get_stats()["requests_num"]
        pages = await asyncio.gather(*(client.get("/metrics") for _ in range(200)))
        assert {samples(page.content)['feedback{status="queued"}'] for page in pages} == {2}
        # what waits, what has ended, what waits for a person, what was delivered
        assert pool.get_stats()["requests_num"] - before == 4


async def test_a_pool_without_a_free_connection_keeps_no_scrape_waiting(
    pool: Pool, health: Health, client: httpx.AsyncClient
) -> None:
    backlog = PostgresBacklog(pool)
    watched = Watched(probes={}, backlog=backlog, pauses=no_pauses, running=lambda: 7)
    async with AsyncExitStack() as borrowed, asyncio.timeout(SOON):
        for _ in range(POOL_SIZE):
            await borrowed.enter_async_context(connection(pool))
        async with health.watching(watched):
            with within(3 * PATIENCE_SECONDS):
                found = samples((await client.get("/metrics")).content)
    assert found["running"] == 7
    assert 'feedback{status="queued"}' not in found


def settings_of(home: Path, **given: object) -> Settings:
    return Settings(_env_file=None, skill_worker_home=home, **given)  # type: ignore[call-arg]


async def test_a_pause_is_a_hold_but_no_reason_to_be_unready(
    home: Path, database: str, health: Health
) -> None:
    settings = settings_of(home, database_url=url_of(database))
    async with open_app(settings, model=True, offline=True, health=health) as app:
        assert (await health.figures()).pauses == set()
        await app.stores.intake.pause("정기 점검")
    async with open_app(settings, model=True, offline=True, health=health) as app:
        assert (await health.figures()).pauses == {PauseKind.PAUSED}
        assert set((await health.checks()).values()) == {"ok"}


async def test_pods_are_a_dependency_where_skills_are_built_in_them(
    home: Path, database: str, health: Health
) -> None:
    async with AsyncExitStack() as stack:
        url = await stack.enter_async_context(computer_use(settings_of(home), PodHost()))
        settings = settings_of(
            home,
            database_url=url_of(database),
            use_skill_creator_workflow=True,
            computer_use_mcp_url=url,
        )
        await stack.enter_async_context(open_app(settings, model=True, offline=True, health=health))
        assert (await health.checks())["computer_use"] == "ok"


async def test_without_the_database_the_process_still_tells_of_itself() -> None:
    now = 0.0
    health = Health(stopping=lambda: False, clock=lambda: now)
    with used_home() as home, embedded_postgres(home) as uri:
        settings = settings_of(home / "worker", database_url=uri)
        async with open_app(settings, model=True, offline=True, health=health) as app:
            await app.stores.inbox.add("cli", PIECES)
            health.metrics.observe(RunEvent(name="feedback.claimed"), NO_USAGE)
            found = samples(health.metrics.render(await health.figures()))
            assert found['feedback{status="queued"}'] == 2
            await asyncio.to_thread(Cluster(home / "postgres", server_user(home)).stop)
            now += 1000
            async with asyncio.timeout(SOON):
                found = samples(health.metrics.render(await health.figures()))
            assert found['dependency_up{dependency="database"}'] == 0
            assert found['dependency_up{dependency="skill_api"}'] == 1
            assert found["feedback_claimed_total"] == 1
            assert 'feedback{status="queued"}' not in found
            assert (await health.checks())["database"] in {"database", "timeout"}
