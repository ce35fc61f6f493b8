"""Fixtures every test may use: a PostgreSQL server, a migrated database, a pool on it."""

from __future__ import annotations

import gc
import signal
from collections.abc import AsyncIterator, Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from core.adapters.postgres.pool import open_pool
from core.adapters.postgres.queries import Pool
from core.app.observability import configure_logging
from core.domain.locale.build_hook import compile_catalogues
from core.domain.tasks import over_all_tenants
from tests.support import databases
from tests.support.examples import register_profiles
from tests.support.recycled import RecycledDatabases
from tests.support.scheduling import Scheduling, import_by_turns, longest_first

if TYPE_CHECKING:  # commands take their time to import, and few tests need them
    from tests.support.home import Home

register_profiles()


def pytest_configure(config: pytest.Config) -> None:
    configure_logging("info", "console")
    # Whoever starts the run may ignore them (nohup, a shell's `&`), and processes inherit that.
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if not hasattr(config, "workerinput"):
        databases.choose_home()
        compile_catalogues(Path(__file__).parents[1])  # as the build does; workers find them


def pytest_unconfigure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        databases.remove_home()


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """Collect without the garbage collector: it took 1.3 of 9 s, and nearly all stays in use.

    Nor is it looked at later: each full collection took a quarter of a second of the tests.
    """
    gc.disable()
    try:
        import_by_turns(session.config)
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> Generator[None, object, object]:
    for item in items:
        if item.get_closest_marker("nightly") is None:
            item.add_marker(pytest.mark.ci)
    done = yield
    if hasattr(config, "workerinput"):
        longest_first(items)
    return done


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> object:
    if config.getoption("dist") != "loadfile":
        return None
    config.option.loadscopereorder = False  # it would put the files with most tests first
    return Scheduling(config, log)


@pytest.fixture(autouse=True)
def logs_as_they_were() -> Iterator[None]:
    """A command that a test calls in this process sets the logs up for itself: set them back."""
    yield
    configure_logging("info", "console")


@pytest.fixture(scope="session", autouse=True)
def tests_see_all_tenants() -> Iterator[None]:
    """What tests read themselves is of no tenant; the program says for whom it works."""
    with over_all_tenants():
        yield


@pytest.fixture
def home(
    database: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Home:
    """A home in which commands run, with a database of its own; a file builds its own on it."""
    from tests.support.home import open_home

    return open_home(database, tmp_path, monkeypatch, capsys)


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """The URI of a PostgreSQL server that tests may do anything to but stop."""
    with databases.test_server() as uri:
        yield uri


@pytest.fixture(scope="session")
def template(server: str) -> str:
    """The name of a migrated database to copy."""
    return databases.template(server)


@pytest.fixture
def empty_database(server: str) -> Iterator[str]:
    """The connection string of a database without any schema."""
    with databases.fresh_database(server, None) as conninfo:
        yield conninfo


@pytest.fixture(scope="session")
def recycled(server: str, template: str) -> Iterator[RecycledDatabases]:
    """Migrated databases that tests have one after another."""
    made = RecycledDatabases(server, template)
    yield made
    made.close()


@pytest.fixture
def database(recycled: RecycledDatabases) -> Iterator[str]:
    """The connection string of a migrated database that is this test's own while it runs."""
    with recycled.one() as conninfo:
        yield conninfo


@pytest.fixture(scope="session")
def recycled_with_vectors(server: str) -> Iterator[RecycledDatabases]:
    """The same, with the tables of search by meaning."""
    made = RecycledDatabases(server, databases.template(server, vectors=True))
    yield made
    made.close()


@pytest.fixture
async def vector_pool(recycled_with_vectors: RecycledDatabases) -> AsyncIterator[Pool]:
    """A pool on a database of this test's own that has the tables of search by meaning."""
    with recycled_with_vectors.one() as conninfo:
        async with open_pool(conninfo) as opened:
            yield opened


@pytest.fixture
async def pool(database: str) -> AsyncIterator[Pool]:
    """A pool on this test's own database."""
    async with open_pool(database) as opened:
        yield opened
