"""Commands as real processes, each in its own home, with only the given settings."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.support.forked import ROOT, Forked


def start(
    home: Path, *arguments: str, fresh: bool = False, **settings: str
) -> subprocess.Popen[str]:
    """Start one command in its own session; `fresh` from the shell, else forked."""
    return _started(home, arguments, settings, fresh=fresh, stdin=subprocess.PIPE, encoding="utf-8")


def finish(home: Path, *arguments: str, **settings: str) -> tuple[int, str, str]:
    """Run one command to its end; return its exit code and output."""
    process = start(home, *arguments, **settings)
    out, err = process.communicate(timeout=100)
    return process.returncode, out, err


def call(
    home: Path, *arguments: str, stdin: bytes = b"", fresh: bool = False, **settings: str
) -> subprocess.CompletedProcess[bytes]:
    """Run one command to its end with the given stdin."""
    process = _started(home, arguments, settings, fresh=fresh, stdin=subprocess.PIPE)
    out, err = process.communicate(stdin, timeout=100)
    return subprocess.CompletedProcess(arguments, process.returncode, out, err)


def _started(  # type: ignore[no-untyped-def]
    home: Path, arguments: Sequence[str], settings: Mapping[str, str], *, fresh: bool, **streams
) -> subprocess.Popen[Any]:
    environment = {key: os.environ[key] for key in ("PATH", "TMPDIR") if key in os.environ}
    environment |= {"PYTHONPATH": str(ROOT), "SKILL_WORKER_HOME": str(home), **settings}
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **streams}
    if not fresh:
        return Forked(arguments, cwd=home, env=environment, **streams)
    command = [sys.executable, "-m", "core", *arguments]
    return subprocess.Popen(command, cwd=home, env=environment, start_new_session=True, **streams)


def wait_for(process: subprocess.Popen[str], text: str) -> str:
    """Read stderr until a line contains `text`; return that line."""
    assert process.stderr
    for line in process.stderr:
        if text in line:
            return line
    raise AssertionError(f"ended without saying {text!r}")


@contextmanager
def silent_server() -> Iterator[str]:
    """Yield the address of a server that accepts connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
