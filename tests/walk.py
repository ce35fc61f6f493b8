"""How far the work walks through `core`: `python -m tests.walk [--files | --json]`.

The real program, with embedded PostgreSQL, the offline model, the embedded skill server and a
computer-use pod, does four things. Of each are counted the files whose functions were called, the
rooms (the top-level entries of `core`) they are in, and how often a call enters a room that had
been left. What counts is the work alone: the job of a piece of feedback, or a command while the
program is open. Imports, start-up and what goes on beside the work are left out; so is what the
stand-in does in the place of a model.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
from collections.abc import AsyncIterator, Iterator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from types import CodeType, FrameType
from unittest.mock import patch

import core
from core import polling_manager
from core.adapters.embedded.postgres import embedded_postgres
from core.app import program
from core.entrypoints.cli.app import run

CORE = f"{Path(core.__file__).parent}{os.sep}"
STAND_IN = f"{CORE}agent{os.sep}offline{os.sep}"
SCENES = ("memory", "skill in a pod", "approval", "search")
BEFORE = "Ms. Park wants short answers by mail"
MEMORY = "Ms. Kim prefers amounts without decimals"
HELD = "Mr. Lee wants invoices in English"
SKILL = "How to settle a partial refund: first check the amount, then ask the lead, then pay"

# The files of the calls so far. Tasks and threads inherit it from the work that starts them, so
# that a heartbeat or a sweep, which was there before, adds nothing.
_calls: ContextVar[list[str] | None] = ContextVar("calls", default=None)
_importing = threading.local()
_starts: dict[CodeType, int] = {}


@dataclass(frozen=True)
class Walk:
    """The files of the calls of one piece of work, call by call."""

    calls: Sequence[str]

    @property
    def files(self) -> list[str]:
        return sorted(set(self.calls))

    @property
    def rooms(self) -> list[str]:
        return sorted({_room(file) for file in self.calls})

    @property
    def returns(self) -> int:
        entered = [room for room, _ in groupby(map(_room, self.calls))]
        return len(entered) - len(set(entered))


def _room(file: str) -> str:
    return file.split(os.sep)[0].removesuffix(".py")


def _profile(frame: FrameType, event: str, _: object) -> None:
    calls = _calls.get()
    if calls is None or event not in {"call", "return"}:
        return
    code = frame.f_code
    if not code.co_filename.startswith(CORE) or code.co_filename.startswith(STAND_IN):
        return
    depth = getattr(_importing, "depth", 0)
    if code.co_name == "<module>":
        _importing.depth = depth + (1 if event == "call" else -1)
    # A coroutine that goes on is reported like a call, but it does not stand at its start.
    elif event == "call" and not depth and frame.f_lasti <= _starts.setdefault(code, frame.f_lasti):
        calls.append(code.co_filename[len(CORE) :])


class Tracer:
    """Traces the jobs of feedback and, where asked to, commands while the program is open."""

    def __init__(self) -> None:
        self.walks: dict[str, Walk] = {}
        self.job: str | None = None
        self.command: str | None = None

    @contextlib.contextmanager
    def tracing(self, scene: str | None) -> Iterator[None]:
        if scene is None:
            yield
            return
        calls: list[str] = []
        _calls.set(calls)
        sys.setprofile(_profile)
        try:
            yield
        finally:
            sys.setprofile(None)
            _calls.set(None)
            self.walks[scene] = Walk(tuple(calls))

    @contextlib.contextmanager
    def installed(self) -> Iterator[None]:
        process, opening = polling_manager.process_feedback, program.open_app

        async def process_feedback(feedback_id: str, *, deps: polling_manager.PollingDeps) -> None:
            with self.tracing(self.job):
                await process(feedback_id, deps=deps)

        @contextlib.asynccontextmanager
        async def open_app(*args: object, **named: object) -> AsyncIterator[object]:
            async with opening(*args, **named) as app:  # type: ignore[arg-type]
                with self.tracing(self.command):
                    yield app

        threading.setprofile(_profile)
        try:
            with (
                patch.object(polling_manager, "process_feedback", process_feedback),
                patch.object(program, "open_app", open_app),
            ):
                yield
        finally:
            threading.setprofile(None)  # type: ignore[arg-type]


def walk() -> dict[str, Walk]:
    """Do the four things in a home of their own; gives their walks by name."""
    tracer = Tracer()
    with tempfile.TemporaryDirectory(prefix="skill-worker-walk-") as home:
        os.chdir(home)
        settings = {"SKILL_WORKER_HOME": home, "LLM_MODEL": "offline", "LOG_LEVEL": "warning"}
        with patch.dict(os.environ, settings), embedded_postgres(Path(home)), tracer.installed():
            _call("agents", "add", "--id", "clerk", "--tenant", "t", "--name", "Clerk")
            _teach(BEFORE)
            _trace_memory(tracer)
            _trace_search(tracer)
            _trace_approval(tracer)
            _trace_skill(tracer)
        os.chdir("/")
    return {scene: tracer.walks[scene] for scene in SCENES}


def _trace_memory(tracer: Tracer) -> None:
    tracer.job = "memory"
    _teach(MEMORY)
    tracer.job = None


def _trace_search(tracer: Tracer) -> None:
    tracer.command = "search"
    _call("knowledge", "search", "decimals of amounts")
    tracer.command = None


def _trace_approval(tracer: Tracer) -> None:
    with patch.dict(os.environ, {"REVIEW_POLICY": "all"}):
        _teach(HELD)
    (held,) = json.loads(_call("changes", "list", "--status", "held", "--json"))["items"]
    tracer.command = "approval"
    _call("changes", "approve", held["id"])
    tracer.command = None


def _trace_skill(tracer: Tracer) -> None:
    tracer.job = "skill in a pod"
    with _pods() as url:
        flags = {"USE_SKILL_CREATOR_WORKFLOW": "true", "COMPUTER_USE_MCP_URL": url}
        with patch.dict(os.environ, flags):
            _teach(SKILL)
    tracer.job = None


def _teach(text: str) -> None:
    _call("feedback", "add", "--text", text, "--agent", "clerk", "--tenant", "t")
    _call("run", "--once", "--offline")


def _call(*arguments: str) -> str:
    with contextlib.redirect_stdout(io.StringIO()) as out:
        code = run([*arguments])
    if code:
        raise SystemExit(f"{' '.join(arguments)} ended with {code}: {out.getvalue()}")
    return out.getvalue()


@contextlib.contextmanager
def _pods() -> Iterator[str]:
    """Serve pods from a process of their own, as a user does; gives the URL."""
    command = [sys.executable, "-m", "core", "serve", "computer-use", "--port", "0"]
    root = str(Path(CORE).parent)
    environment = {**os.environ, "LOG_LEVEL": "info", "PYTHONPATH": root}
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment) as server:
        assert server.stderr
        try:
            urls = (re.search(r"http://[\w.:]+/mcp", line) for line in server.stderr)
            yield next(url.group() for url in urls if url)
        finally:
            server.terminate()


def main(arguments: Sequence[str]) -> None:
    walks = walk()
    if "--json" in arguments:
        figures = {
            scene: {"files": len(it.files), "rooms": len(it.rooms), "returns": it.returns}
            for scene, it in walks.items()
        }
        print(json.dumps(figures))
        return
    print(f"{'':16}files  rooms  returns")
    for scene, it in walks.items():
        print(f"{scene:16}{len(it.files):5}{len(it.rooms):7}{it.returns:9}")
        if "--files" in arguments:
            print(*(f"    {file}" for file in it.files), sep="\n")


if __name__ == "__main__":
    main(sys.argv[1:])
