"""Pods in local folders, and skill documents in memory."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import signal
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Literal

from core.domain.errors import McpDown, PodCallFailed
from core.domain.models import ShellResult

POD_TMP = "/tmp"  # noqa: S108
PodOp = Literal["create_session", "create_file", "delete_file", "run_shell", "delete_session"]
_TMP = re.compile(r"(?<![\w./~-])/tmp(?![\w.~-])")
_SHELL_SECONDS = 60


@dataclass(frozen=True)
class PodCall:
    """One call of a pod: `argument` is a path, a command, or the ttl."""

    op: PodOp
    argument: str = ""


@dataclass
class LocalPod:
    """A shell over a folder in place of `/tmp`. It isolates nothing."""

    folder: Path
    env: Mapping[str, str] = field(default_factory=lambda: {"LC_ALL": "C.UTF-8"})

    def write(self, path: str, content: str) -> None:
        """Write a text file with the folders above it. Raises PodCallFailed."""
        try:
            target = self._real(path)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content.encode())
        except (OSError, ValueError) as error:
            raise PodCallFailed(f"create_file {path}: {error}") from error

    def delete(self, path: str) -> None:
        """Delete a file. Raises PodCallFailed if there is none."""
        try:
            self._real(path).unlink()
        except (OSError, ValueError) as error:
            raise PodCallFailed(f"delete_file {path}: {error}") from error

    async def run(self, command: str) -> ShellResult:
        """Run a command in bash; `/tmp` in it and its output stands for the folder."""
        path = f"{Path(sys.executable).parent}:/usr/local/bin:{os.defpath}"
        environment = {"PATH": path, "HOME": str(self.folder)}
        process = await asyncio.create_subprocess_exec(
            "/bin/bash",
            "-c",
            _TMP.sub(lambda _: str(self.folder), command),
            cwd=self.folder,
            env={**environment, **self.env},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
        try:
            async with asyncio.timeout(_SHELL_SECONDS):
                out, err = await process.communicate()
        except TimeoutError as error:
            raise PodCallFailed(f"run_shell took more than {_SHELL_SECONDS} s") from error
        finally:
            if process.returncode is None:
                os.killpg(process.pid, signal.SIGKILL)
                await asyncio.shield(process.wait())
        return ShellResult(
            exit_code=process.returncode, stdout=self._shown(out), stderr=self._shown(err)
        )

    def _real(self, path: str) -> Path:
        if not _TMP.match(path) or ".." in path.split("/"):
            raise ValueError(f"it is not under {POD_TMP}")
        return self.folder / path[len(POD_TMP) :].lstrip("/")

    def _shown(self, output: bytes) -> str:
        return output.decode("utf-8", "replace").replace(str(self.folder), POD_TMP)


@dataclass
class LocalPods:
    """The `Pods` port over folders under `root`, one per pod, removed at the end.

    `calls` has every call in order. `before` sees each call first and may raise instead of it;
    `shell` may answer a command itself, or return None to have it run.
    """

    root: Path
    before: Callable[[PodCall], None] = lambda _: None
    shell: Callable[[str], ShellResult | None] = lambda _: None
    env: Mapping[str, str] = field(default_factory=lambda: {"LC_ALL": "C.UTF-8"})
    calls: list[PodCall] = field(default_factory=list)
    ids: count[int] = field(default_factory=lambda: count(1))

    @asynccontextmanager
    async def open(self, *, ttl: int) -> AsyncIterator[RecordedPod]:
        """Create a folder, yield a pod over it, and always remove it."""
        self.note("create_session", str(ttl))
        folder = self.root / f"pod-{next(self.ids)}"
        folder.mkdir(parents=True)
        pod = RecordedPod(LocalPod(folder, self.env), self)
        try:
            yield pod
        finally:
            pod.is_gone = True
            shutil.rmtree(folder, ignore_errors=True)
            self.calls.append(PodCall("delete_session"))

    def note(self, op: PodOp, argument: str) -> None:
        """Record a call, and raise what the test wants raised."""
        self.calls.append(PodCall(op, argument))
        self.before(self.calls[-1])


@dataclass
class RecordedPod:
    """The `Pod` port over a local one."""

    local: LocalPod
    pods: LocalPods
    is_gone: bool = False

    async def create_file(self, path: str, content: str) -> None:
        self._note("create_file", path)
        self.local.write(path, content)

    async def delete_file(self, path: str) -> None:
        """Delete a file. Raises PodCallFailed if there is none."""
        self._note("delete_file", path)
        self.local.delete(path)

    async def run_shell(self, command: str) -> ShellResult:
        """Run a command, or return the test's answer for it."""
        self._note("run_shell", command)
        return self.pods.shell(command) or await self.local.run(command)

    def _note(self, op: PodOp, argument: str) -> None:
        self.pods.note(op, argument)
        if self.is_gone:
            raise PodCallFailed(f"{op}: the session is deleted")


@dataclass
class MemorySkillDocuments:
    """The port `SkillDocuments` over `documents`: skill -> path -> text; `down` makes it fail."""

    documents: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    down: bool = False
    asked: list[tuple[str, str]] = field(default_factory=list)

    async def read(self, skill_name: str, document_path: str) -> str | None:
        self.asked.append((skill_name, document_path))
        if self.down:
            raise McpDown("the skill server does not answer")
        return self.documents.get(skill_name, {}).get(document_path)
