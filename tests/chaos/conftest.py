"""Fixtures of the chaos suite: one world per session, a scenario per test, a table at the end."""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from tests.chaos.recording import Point, Recording, record, record_http
from tests.chaos.scenario import LONGEST, Scenario
from tests.chaos.world import World, opened_world
from tests.support import databases

HERE = f"{Path(__file__).parent}{os.sep}"
HEAD = ("SCENARIO", "FEEDBACK", "KILLS", "CLAIMS", "SECONDS", "FOUND")
_TABLE = pytest.StashKey[list[tuple[str, ...]]]()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if str(item.path).startswith(HERE):
            item.add_marker(pytest.mark.chaos)
            item.add_marker(pytest.mark.timeout(2 * LONGEST))


@pytest.fixture(scope="session")
def world(pytestconfig: pytest.Config) -> Iterator[World]:
    """PostgreSQL, the model and the skill server, in processes of their own."""
    root = Path(tempfile.mkdtemp(prefix="chaos-"))
    try:
        with opened_world(root) as opened:
            pytestconfig.stash[_TABLE] = opened.rows
            yield opened
    finally:
        shutil.rmtree(root, ignore_errors=True)


@pytest.fixture(scope="session")
def http_points(world: World) -> list[Point]:
    """The failpoints of skills sent over HTTP."""
    return asyncio.run(record_http(world))


@pytest.fixture(scope="session")
def recording(world: World, http_points: list[Point]) -> Recording:
    """All recorded failpoints."""
    return asyncio.run(record(world, http_points))


@pytest.fixture
async def scenario(world: World, request: pytest.FixtureRequest) -> AsyncIterator[Scenario]:
    """A database of its own in a calm world; its workers end with it."""
    world.calm()
    with databases.fresh_database(world.postgres.uri, world.template) as database:
        playing = Scenario(world, database, name=request.node.name)
        try:
            yield playing
        finally:
            playing.end()
            world.calm()


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    rows = config.stash.get(_TABLE, [])
    if not rows:
        return
    terminalreporter.section("chaos")
    widths = [max(len(row[at]) for row in [HEAD, *rows]) for at in range(len(HEAD))]
    for row in [HEAD, *rows]:
        line = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        terminalreporter.write_line(line.rstrip())
