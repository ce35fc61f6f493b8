"""A sandbox: files and commands of one session, behind the best wall available here."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import signal
import tempfile
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass

from pydantic import JsonValue

from core.adapters.embedded.sandbox_bubblewrap import find_bubblewrap
from core.adapters.embedded.sandbox_wall import (
    FOLDER,
    SANDBOX_UID,
    Limits,
    Start,
    Wall,
    agent_command,
    environment,
    hidden_above,
    our_python,
)
from core.domain.errors import ConfigurationError, PodCallFailed
from core.domain.messages import Message
from core.domain.models import ShellResult


@dataclass(frozen=True)
class PlainProcess:
    """Limits on time, memory and output, and an empty environment; files and network are open.

    `/tmp` in paths and commands is rewritten to a private folder; file contents are not.
    """

    reason: str
    name: str = "process"
    is_boundary: bool = False

    @property
    def detail(self) -> str:
        """State why it is used, and what it is not."""
        return f"NO SECURITY BOUNDARY: commands run as plain processes here, since {self.reason}"

    @contextmanager
    def open(self, limits: Limits) -> Iterator[Start]:
        """Create the private folder; as root, it belongs to an unprivileged user where possible."""
        python, user = our_python(), None
        folder = os.path.realpath(tempfile.mkdtemp(prefix="skill-worker-sandbox-"))
        try:
            reachable = hidden_above(python.prefix) is None
            if os.geteuid() == 0 and reachable and hidden_above(os.path.dirname(folder)) is None:
                user = SANDBOX_UID
                os.chown(folder, user, user)
            yield Start(
                command=agent_command(python, limits, folder),
                environment=environment(python, folder),
                user=user,
                folder=folder,
            )
        finally:
            shutil.rmtree(folder, ignore_errors=True)


_START_SECONDS = 20
_SPARE_SECONDS = 15  # for the agent's own work around a command
_END_SECONDS = 5
_ESCAPED = 6  # the most bytes of JSON per byte of output
_SAID_BYTES = 1_000
# Matches the folder as a whole path component, neither inside another path nor in a name.
_IN_FOLDER = re.compile(rf"(?<![\w.~/-]){FOLDER}(?![\w.-])")


def find_wall(search: str = os.defpath, user: int = SANDBOX_UID) -> Wall:
    """Return the best wall that works here (takes some 30 ms); `search` is a PATH for programs.

    `user` is the account that root's sandboxes run as.
    """
    wall, reason = find_bubblewrap(search, user)
    return wall or PlainProcess(reason)


def require_wall(
    *, user: int | None, no_sandbox: bool, is_root: bool, search: str = os.defpath
) -> Wall:
    """Return the wall that pods are served behind.

    Raises ConfigurationError if none works here, unless `no_sandbox`, which is not for root; and if
    `user`, the account that root's pods run as, is root itself.
    """
    if is_root and no_sandbox:
        raise ConfigurationError(Message("sandbox.root"), hint=Message("sandbox.hint_root"))
    if user == 0:
        raise ConfigurationError(Message("sandbox.user"), hint=Message("sandbox.hint_user"))
    wall = find_wall(search, SANDBOX_UID if user is None else user)
    if wall.is_boundary or no_sandbox:
        return wall
    assert isinstance(wall, PlainProcess)
    hint = Message("sandbox.hint_install") if is_root else Message("sandbox.hint_wall")
    raise ConfigurationError(Message("sandbox.no_wall", why=wall.reason), hint=hint)


def sandbox_status() -> tuple[str, bool, str]:
    """Return the wall's name, whether it is a security boundary, and a sentence about it."""
    wall = find_wall()
    return wall.name, wall.is_boundary, wall.detail


@asynccontextmanager
async def open_sandbox(wall: Wall, limits: Limits) -> AsyncIterator[Sandbox]:
    """Start a sandbox; at the end everything in it is killed and removed. Raises PodCallFailed."""
    with wall.open(limits) as start:
        process = await _spawn(start, limits)
        try:
            sandbox = Sandbox(process, start.folder, limits)
            await sandbox.wait_until_ready()
            yield sandbox
        finally:
            await asyncio.shield(_end(process))


class Sandbox:
    """Talks to the agent inside, one request at a time. Methods raise PodCallFailed."""

    def __init__(self, process: Process, folder: str, limits: Limits) -> None:
        self._process = process
        self._folder = folder
        self._limits = limits
        self._lock = asyncio.Lock()

    async def wait_until_ready(self) -> None:
        """Wait for the agent's first message."""
        try:
            await self._answer(_START_SECONDS)
        except PodCallFailed as error:
            raise PodCallFailed(Message("sandbox.not_started", why=await self._said())) from error

    async def run_shell(self, command: str) -> ShellResult:
        """Run a command; if a limit ended it, its status is 124 (time) or 137 (memory)."""
        answer = await self._ask(op="run", command=_IN_FOLDER.sub(self._folder, command))
        result = ShellResult.model_validate(answer)
        return result.model_copy(
            update={
                "stdout": result.stdout.replace(self._folder, FOLDER),
                "stderr": result.stderr.replace(self._folder, FOLDER),
            }
        )

    async def create_file(self, path: str, content: str) -> None:
        """Write a text file and the folders above it."""
        await self._ask(op="write", path=self._outer(path), content=content)

    async def delete_file(self, path: str) -> None:
        await self._ask(op="delete", path=self._outer(path))

    def _outer(self, path: str) -> str:
        if not path.startswith(f"{FOLDER}/"):
            raise PodCallFailed(Message("sandbox.path", path=path, folder=FOLDER))
        return self._folder + path.removeprefix(FOLDER)

    async def _ask(self, **request: JsonValue) -> dict[str, JsonValue]:
        # A cancelled caller must not leave a half-read answer behind for the next one.
        asking = asyncio.ensure_future(self._exchange(json.dumps(request).encode("ascii") + b"\n"))
        asking.add_done_callback(lambda task: task.cancelled() or task.exception())
        return await asyncio.shield(asking)

    async def _exchange(self, line: bytes) -> dict[str, JsonValue]:
        async with self._lock:
            assert self._process.stdin is not None
            with suppress(OSError):
                self._process.stdin.write(line)
                await self._process.stdin.drain()
            answer = await self._answer(self._limits.seconds + _SPARE_SECONDS)
        if "error" in answer:
            raise PodCallFailed(str(answer["error"]))
        return answer

    async def _answer(self, seconds: float) -> dict[str, JsonValue]:
        """Read an answer; the inside may have forged it, so it is treated as mere data."""
        assert self._process.stdout is not None
        try:
            line = await asyncio.wait_for(self._process.stdout.readline(), seconds)
            answer = json.loads(line)
        except (ValueError, TimeoutError, RecursionError) as error:
            _kill(self._process)
            raise PodCallFailed(Message("sandbox.broke")) from error
        if not isinstance(answer, dict):
            raise PodCallFailed(Message("sandbox.garbled"))
        return answer

    async def _said(self) -> str:
        assert self._process.stderr is not None
        with suppress(TimeoutError):
            said = await asyncio.wait_for(self._process.stderr.read(_SAID_BYTES), _END_SECONDS)
            return said.decode("utf-8", "replace").strip()
        return Message("sandbox.no_reason")


async def _spawn(start: Start, limits: Limits) -> Process:
    try:
        return await asyncio.create_subprocess_exec(
            *start.command,
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
            env=dict(start.environment),
            cwd="/",
            start_new_session=True,
            user=start.user,
            group=start.user,
            extra_groups=None if start.user is None else [],
            pass_fds=start.handles,
            # An answer is one line, which asyncio limits to 64 KiB by default.
            limit=2 * _ESCAPED * limits.output_bytes + _SAID_BYTES,
        )
    except OSError as error:
        raise PodCallFailed(Message("sandbox.not_started", why=error)) from error


async def _end(process: Process) -> None:
    """End the agent and all that runs inside: by closing its stdin, then by SIGKILL."""
    assert process.stdin is not None
    process.stdin.close()
    try:
        await asyncio.wait_for(process.wait(), _END_SECONDS)
    except TimeoutError:
        _kill(process)
        await process.wait()


def _kill(process: Process) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
