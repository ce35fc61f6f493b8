"""Homes whose database exists when a test begins, so that not each test creates one."""

from __future__ import annotations

import asyncio
import fcntl
import os
import subprocess
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import psycopg

from core.adapters.embedded.postgres import WORKER, embedded_postgres
from core.adapters.postgres.migrations import migrate
from tests.support.databases import HOME_VARIABLE, fresh_database, of_worker, url_of


@contextmanager
def served_home(server: str, template: str) -> Iterator[Path]:
    """Yield a home whose commands use a database of their own on the run's server."""
    with (
        fresh_database(server, template) as database,
        tempfile.TemporaryDirectory(prefix="skill-worker-served-") as path,
    ):
        (Path(path) / ".env").write_text(f"DATABASE_URL={url_of(of_worker(database))}\n")
        yield Path(path)


@contextmanager
def used_home() -> Iterator[Path]:
    """Yield a home with an empty inbox; fsync is off, but commits survive the process."""
    with tempfile.TemporaryDirectory(prefix="skill-worker-used-") as path:
        subprocess.run(["cp", "-a", str(_first() / "postgres"), path], check=True)
        yield Path(path)


def _first() -> Path:
    """Return the home that others are copies of, made by whichever process is first."""
    first = Path(os.environ[HOME_VARIABLE]) / "first"
    first.mkdir(mode=0o700, exist_ok=True)
    with (first / ".turn").open("w") as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)
        if not (first / ".made").exists():
            with embedded_postgres(first) as uri:
                with psycopg.connect(uri, autocommit=True) as conn:
                    conn.execute("ALTER SYSTEM SET fsync = off")
                with ThreadPoolExecutor(1) as beside:  # a test may have a loop of its own
                    beside.submit(asyncio.run, migrate(uri, worker=WORKER)).result()
            (first / ".made").touch()
    return first
