"""Workers of this release and of the one before on one database, while one replaces the other.

The release before is the last commit before the first migration of the changelog's Unreleased.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
import uuid
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo

from tests.support.databases import url_of
from tests.support.waiting import AT_LAST, wait_until

FIRST_MIGRATION = "core/adapters/postgres/migrations/versions/0002_messages.sql"
HERE = Path(__file__).parents[2]
OFFLINE = ("run", "--offline", "--port", "0")
# What a worker of the release before does by itself: it takes in agents and feedback, here once
# each time it gets a line.
_TAKES_IN = """
import asyncio, sys
from core.app.program import open_app
from core.app.settings import load_settings
from core.domain.models import Agent, NewFeedback

async def main():
    async with open_app(load_settings()) as app:
        print("open", flush=True)
        for line in sys.stdin:
            name = line.strip()
            agent = Agent(id=name, tenant_id="t", name=name, role="clerk")
            await app.stores.agents.save(agent)
            await app.stores.agents.save(agent)
            text = f"{name} wants invoices in English"
            given = dict(content=text, agent_ids=("a",), tenant_id="t")
            await app.stores.inbox.add("test", [NewFeedback(**given)])
            print("added", flush=True)

asyncio.run(main())
"""


@pytest.fixture
def before(tmp_path: Path) -> Path:
    """The code of the release before."""

    def git(*arguments: str) -> bytes:
        done = subprocess.run(["git", *arguments], cwd=HERE, capture_output=True, check=False)
        if done.returncode or not done.stdout:
            pytest.skip("the history of the code is not here")
        return done.stdout

    commits = git("log", "--diff-filter=A", "--format=%H", "--", FIRST_MIGRATION).decode().split()
    with tarfile.open(fileobj=BytesIO(git("archive", f"{commits[-1]}^"))) as code:
        code.extractall(tmp_path / "before", filter="data")
    return tmp_path / "before"


class _Release:
    def __init__(self, code: Path, database: str, home: Path) -> None:
        self._settings = {
            **os.environ,
            "PYTHONPATH": str(code),
            "DATABASE_URL": url_of(database),
            "SKILL_WORKER_HOME": str(home),
        }
        self._home = home

    def call(self, *arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "core", *arguments],
            env=self._settings,
            cwd=self._home,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def add(self, text: str) -> None:
        self.call("feedback", "add", "--agent", "a", "--tenant", "t", "--text", text)

    def feedback(self) -> list[dict[str, object]]:
        answer = json.loads(self.call("feedback", "list", "--json"))
        return list(answer["items"])

    @contextmanager
    def begun(self, *command: str) -> Iterator[subprocess.Popen[str]]:
        with (
            (self._home / "log").open("a") as log,
            subprocess.Popen(
                [sys.executable, *command],
                env=self._settings,
                cwd=self._home,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            ) as process,
        ):
            try:
                yield process
            finally:
                process.terminate()


@pytest.fixture
def owned(empty_database: str) -> Iterator[str]:
    """An empty database whose owner is no superuser: policies are in force for it."""
    owner = sql.Identifier(f"owner_{uuid.uuid4().hex[:8]}")
    with psycopg.connect(empty_database, autocommit=True) as conn:
        conn.execute(sql.SQL("CREATE ROLE {} LOGIN").format(owner))
        conn.execute(sql.SQL("ALTER SCHEMA public OWNER TO {}").format(owner))
    yield make_conninfo(empty_database, user=owner.as_string()[1:-1])
    with psycopg.connect(empty_database, autocommit=True) as conn:
        conn.execute(sql.SQL("DROP OWNED BY {} CASCADE").format(owner))
        conn.execute(sql.SQL("DROP ROLE {}").format(owner))


@pytest.mark.nightly
def test_workers_of_two_releases_run_side_by_side(before: Path, owned: str, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    old, new = (_Release(code, owned, home) for code in (before, HERE))
    old.call("db", "migrate")
    old.call("agents", "add", "--id", "a", "--tenant", "t", "--name", "A")
    with old.begun("-m", "core", *OFFLINE), old.begun("-c", _TAKES_IN) as taking_in:
        _step(taking_in, None)
        _step(taking_in, "Mr. Park")
        wait_until(lambda: _ended(old) == {"completed": 1}, AT_LAST)
        new.call("db", "migrate")
        _step(taking_in, "Ms. Kim")
        new.add("Mr. Choi wants reports as PDF")
        with new.begun("-m", "core", *OFFLINE):
            wait_until(lambda: _ended(new) == {"completed": 3}, AT_LAST)
            _step(taking_in, "Ms. Lee")
            wait_until(lambda: _ended(new) == {"completed": 4}, AT_LAST)
    assert {piece["attempts"] for piece in new.feedback()} == {1}
    known = json.loads(new.call("knowledge", "list", "--json"))["items"]
    assert len(known) == 4
    agents = json.loads(new.call("agents", "list", "--json"))["items"]
    assert sorted(agent["id"] for agent in agents) == ["Mr. Park", "Ms. Kim", "Ms. Lee", "a"]


def _ended(release: _Release) -> Counter[object]:
    return Counter(piece["status"] for piece in release.feedback())


def _step(process: subprocess.Popen[str], line: str | None) -> None:
    assert process.stdin is not None
    assert process.stdout is not None
    if line is not None:
        process.stdin.write(f"{line}\n")
        process.stdin.flush()
    assert process.stdout.readline().strip() in {"open", "added"}
