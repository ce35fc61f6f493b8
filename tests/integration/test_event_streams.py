"""Events over a real socket: none lost, none twice, whatever happens to server and database."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import httpx
import psycopg
import pytest
from pydantic import SecretStr

from core.adapters.embedded.postgres import Cluster, embedded_postgres, server_user
from core.adapters.postgres.pool import open_pool
from core.adapters.postgres.runs import PostgresJournal
from core.app.program import App, open_app
from core.app.settings import Settings
from core.domain.models import Agent, NewFeedback, RunEvent
from core.domain.models.access import Role
from tests.support.databases import url_of
from tests.support.forked import script
from tests.support.streams import Heard, listening, served, take
from tests.support.used_home import used_home
from tests.support.waiting import AT_LAST

_EMIT = """
import asyncio, sys
from core.domain.models import RunEvent
from core.adapters.postgres.runs import PostgresJournal
from core.adapters.postgres.pool import open_pool
from core.domain.tasks import in_name_of

async def main():
    with in_name_of("t"):
        await emit()

async def emit():
    async with open_pool(sys.argv[1]) as pool:
        for n in range(int(sys.argv[2])):
            await PostgresJournal(pool).emit(
                RunEvent(name="tool.called", tenant_id="t", feedback_id="f", data={"n": n})
            )

asyncio.run(main())
"""


def settings_of(conninfo: str, tmp_path: Path) -> Settings:
    return Settings(
        database_url=SecretStr(url_of(conninfo)), skill_worker_home=tmp_path, _env_file=None
    )


@pytest.fixture
async def app(database: str, tmp_path: Path) -> AsyncIterator[App]:
    async with open_app(settings_of(database, tmp_path), model=True, offline=True) as opened:
        await opened.stores.agents.save(Agent(id="clerk", tenant_id="t", name="Clerk"))
        yield opened


async def tell(conninfo: str, *events: RunEvent) -> None:
    """Write events as another process would."""
    async with open_pool(conninfo) as pool:
        for event in events:
            await PostgresJournal(pool).emit(event)


def event(number: int, tenant: str | None = "t", piece: str = "f") -> RunEvent:
    return RunEvent(
        name="tool.called", tenant_id=tenant, feedback_id=piece, data={"n": number, "글": "가"}
    )


async def teach(app: App, tenant: str = "t", agent: str = "clerk") -> str:
    """Add one piece of feedback; return its id."""
    new = NewFeedback(tenant_id=tenant, agent_ids=(agent,), content="금액은 원화로 표시해 주세요")
    ((feedback_id, _),) = await app.stores.inbox.add("test", [new])
    return feedback_id


async def work(app: App) -> None:
    await app.run(True, 2, asyncio.Event(), lambda _: None)


def numbers(heard: list[Heard]) -> list[int]:
    return [one.data["data"]["n"] for one in heard]


async def test_a_run_is_shown_as_it_happens_with_how_things_stood(app: App) -> None:
    async with served(app) as url, listening(f"{url}/v1/events") as stream:
        (start,) = await take(stream, 1)
        assert (start.event, start.data) == ("", {})
        feedback_id = await teach(app)
        await work(app)
        heard = await take(stream, 10)
    assert [one.event for one in heard] == [
        "feedback.claimed",
        "feedback.matched",
        "run.started",
        "model.called",
        "case.added",
        "change.applied",
        "tool.called",
        "model.called",
        "run.finished",
        "feedback.finished",
    ]
    states = [one.data["state"]["feedback"] for one in heard]
    assert [state["status"] for state in states] == ["processing"] * 9 + ["completed"]
    assert [state["usage"]["model_calls"] for state in states] == [0, 0, 0, 1, 1, 1, 1, 2, 2, 2]
    assert [one.data["name"] for one in heard] == [one.event for one in heard]
    assert {one.data["ids"]["feedback_id"] for one in heard} == {feedback_id}
    applied = heard[5].data
    assert applied["state"]["change"]["status"] == "applied"
    assert applied["state"]["candidate"]["usage"]["model_calls"] == 1
    assert applied["ids"]["change_id"]


async def test_a_piece_tells_all_it_has_been_through_and_says_when_it_is_over(app: App) -> None:
    feedback_id = await teach(app)
    async with (
        served(app) as url,
        listening(f"{url}/v1/feedback/{feedback_id}/events") as stream,
    ):
        working = asyncio.create_task(work(app))
        async with asyncio.timeout(AT_LAST):
            live = [one async for one in stream]
        await working
        async with listening(f"{url}/v1/feedback/{feedback_id}/events") as again:
            later = [one async for one in again]
    assert live == later
    assert [one.event for one in live][-2:] == ["feedback.finished", "end"]
    assert live[-1].data == {"feedback_id": feedback_id, "status": "completed"}
    assert live[-1].id == ""


async def test_an_end_whose_event_was_never_written_ends_the_stream_all_the_same(
    app: App, database: str
) -> None:
    feedback_id = await teach(app)
    await work(app)
    with psycopg.connect(database, autocommit=True) as conn:
        conn.execute("DELETE FROM run_events WHERE name = 'feedback.finished'")
    async with served(app) as url, listening(f"{url}/v1/feedback/{feedback_id}/events") as stream:
        async with asyncio.timeout(AT_LAST):
            heard = [one.event async for one in stream]
    assert heard[-2:] == ["run.finished", "end"]


async def test_who_comes_again_goes_on_without_loss_or_doubles(app: App, database: str) -> None:
    async with served(app) as url:
        async with listening(f"{url}/v1/events") as stream:
            (start,) = await take(stream, 1)
            await tell(database, *map(event, range(5)))
            heard = await take(stream, 3)
        await tell(database, *map(event, range(5, 250)))  # more than a page
        async with listening(f"{url}/v1/events", last=heard[-1].id) as stream:
            heard += (await take(stream, 248))[1:]
        async with listening(f"{url}/v1/events", last=start.id) as stream:
            all_ = (await take(stream, 251))[1:]
    assert numbers(heard) == numbers(all_) == list(range(250))


async def test_what_other_processes_write_comes_too_in_one_order_for_all(
    app: App, database: str
) -> None:
    each, writers = 60, 3
    async with (
        served(app) as url,
        listening(f"{url}/v1/events") as one,
        listening(f"{url}/v1/events?tenant_id=t") as other,
    ):
        await take(one, 1)
        await take(other, 1)
        children = [script(_EMIT, database, str(each)) for _ in range(writers)]
        first, second = await take(one, each * writers), await take(other, each * writers)
        assert [child.wait() for child in children] == [0] * writers
    assert [heard.id for heard in first] == [heard.id for heard in second]
    assert len({heard.id for heard in first}) == each * writers
    assert sorted(numbers(first)) == sorted(list(range(each)) * writers)


async def test_a_tenant_hears_nothing_of_another_nor_of_the_queue(app: App, database: str) -> None:
    await app.stores.agents.save(Agent(id="other", tenant_id="u", name="Other"))
    foreign = await teach(app, "u", "other")
    async with served(app) as url, httpx.AsyncClient(base_url=url) as client:
        async with listening(f"{url}/v1/events", tenant="t") as stream:
            await take(stream, 1)
            await tell(database, event(1, "u"), event(2, None), event(3, "t"))
            assert numbers(await take(stream, 1)) == [3]
        of_t = {"x-tenant": "t"}
        for path in ("/v1/events?tenant_id=u", f"/v1/feedback/{foreign}/events"):
            answer = await client.get(path, headers=of_t)
            assert (answer.status_code, answer.json()["kind"]) == (404, "not_found")


@pytest.mark.parametrize(
    ("path", "last", "status"),
    [
        ("/v1/events", "no place", 422),
        ("/v1/events", "1-1;DROP", 422),
        ("/v1/events?after=x", None, 422),
        ("/v1/events?names=Robert%27);--", None, 422),
        ("/v1/events?tenant_id=%00", None, 422),
        ("/v1/feedback/none/events", None, 404),
        ("/v1/feedback/%00/events", None, 422),
    ],
)
async def test_what_is_wrong_is_a_problem_before_any_stream_begins(
    app: App, path: str, last: str | None, status: int
) -> None:
    async with served(app) as url, httpx.AsyncClient(base_url=url) as client:
        answer = await client.get(path, headers={"Last-Event-ID": last} if last else {})
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/problem+json"


async def test_who_may_not_read_may_not_listen(app: App) -> None:
    async with served(app, roles=(Role.SUBMIT,)) as url, httpx.AsyncClient(base_url=url) as client:
        assert (await client.get("/v1/events")).status_code == 403
        assert (await client.get("/v1/feedback/x/events")).status_code == 403


async def test_whoever_goes_away_leaves_nothing_behind(app: App, database: str) -> None:
    tasks = asyncio.all_tasks()
    async with served(app) as url:
        for _ in range(5):
            async with listening(f"{url}/v1/events") as stream:
                await take(stream, 1)
        async with asyncio.timeout(AT_LAST):
            while _listeners(database):
                await asyncio.sleep(0)
    async with asyncio.timeout(AT_LAST):
        while asyncio.all_tasks() - tasks:
            await asyncio.sleep(0)


async def test_names_choose_among_events(app: App, database: str) -> None:
    async with served(app) as url:
        path = f"{url}/v1/events?names=change.held&names=queue.paused"
        async with listening(path) as stream:
            await take(stream, 1)
            await tell(database, event(1), RunEvent(name="queue.paused"), event(2))
            await tell(database, RunEvent(name="change.held", tenant_id="t"))
            heard = await take(stream, 2)
    assert [one.event for one in heard] == ["queue.paused", "change.held"]


@pytest.fixture
def home() -> Iterator[Path]:
    with used_home() as here:
        yield here


@pytest.fixture
def own_server(home: Path) -> Iterator[str]:
    with embedded_postgres(home) as uri:
        yield uri


async def test_a_stream_outlives_the_databases_stop_and_start(
    own_server: str, home: Path, tmp_path: Path
) -> None:
    cluster = Cluster(home / "postgres", server_user(home))
    settings = Settings(
        database_url=SecretStr(own_server), skill_worker_home=tmp_path, _env_file=None
    )
    async with (
        open_app(settings) as app,
        served(app) as url,
        listening(f"{url}/v1/events") as stream,
    ):
        await take(stream, 1)
        await tell(own_server, *map(event, range(3)))
        heard = await take(stream, 3)
        await asyncio.to_thread(cluster.stop)
        await asyncio.to_thread(cluster.ensure_running)
        await tell(own_server, *map(event, range(3, 6)))
        heard += await take(stream, 3)
    assert numbers(heard) == list(range(6))


def _listeners(conninfo: str) -> int:
    with psycopg.connect(conninfo) as conn:
        return conn.execute(
            "SELECT FROM pg_stat_activity"
            " WHERE datname = current_database() AND query = 'LISTEN run_events'"
        ).rowcount
