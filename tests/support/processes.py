"""Other processes for tests: commands that use the embedded PostgreSQL, and what still runs."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

from tests.support.forked import script
from tests.support.waiting import wait_until

_HOLD = """
import sys
from pathlib import Path
from core.adapters.embedded.postgres import embedded_postgres
with embedded_postgres(Path(sys.argv[1])) as uri:
    print(uri, flush=True)
    sys.stdin.read()
"""
_COME_AND_GO = """
import sys
from pathlib import Path
import psycopg
from core.adapters.embedded.postgres import embedded_postgres
for _ in range(int(sys.argv[2])):
    with embedded_postgres(Path(sys.argv[1])) as uri, psycopg.connect(uri) as conn:
        assert conn.execute("SELECT 1").fetchone() == (1,)
"""


@contextmanager
def holder(home: Path) -> Iterator[subprocess.Popen[str]]:
    """Run a process inside `embedded_postgres(home)` until its stdin is closed."""
    streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with script(_HOLD, str(home), **streams) as process:
        try:
            assert process.stdout is not None
            assert any(line.startswith("postgresql://") for line in process.stdout)
            yield process
        finally:
            if process.poll() is None:
                process.communicate()


def come_and_go(home: Path, times: int) -> subprocess.Popen[str]:
    """Start a process that enters, queries and leaves `times` times."""
    return script(_COME_AND_GO, str(home), str(times))


def servers(home: Path) -> list[psutil.Process]:
    """Return all PostgreSQL processes that work in the home's data directory."""
    data = str((home / "postgres").resolve())
    found = []
    for process in psutil.process_iter():
        try:
            if process.name() == "postgres" and process.cwd() == data:
                found.append(process)
        except psutil.Error:
            continue
    return found


def kill_servers(home: Path) -> None:
    """Kill all PostgreSQL processes of the home; they are gone, or zombies, afterwards."""
    for process in servers(home):
        process.kill()
    wait_until(lambda: not servers(home))
