"""Commands as real processes, each in a home of its own, with no settings but those given."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[2]


def start(home: Path, *arguments: str, **settings: str) -> subprocess.Popen[str]:
    """Start one command, in a process group of its own."""
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(
        [sys.executable, "-m", "core", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=home,
        env=environment | {"SKILL_WORKER_HOME": str(home)} | settings,
        start_new_session=True,
    )


def finish(home: Path, *arguments: str, **settings: str) -> tuple[int, str, str]:
    """Run one command to its end; give its exit code and what it said."""
    process = start(home, *arguments, **settings)
    out, err = process.communicate(timeout=100)
    return process.returncode, out, err


def wait_for(process: subprocess.Popen[str], text: str) -> str:
    """Read stderr until a line holds `text`; give that line."""
    assert process.stderr
    for line in process.stderr:
        if text in line:
            return line
    raise AssertionError(f"ended without saying {text!r}")


@contextmanager
def silent_server() -> Iterator[str]:
    """The address of a server that takes connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
