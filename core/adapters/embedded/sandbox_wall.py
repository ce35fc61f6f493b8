"""The interface of walls: how the program inside a sandbox is started, within which limits."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

FOLDER = "/tmp"  # noqa: S108 - the path seen inside, where it is private
SANDBOX_UID = 60_999  # for root's sandboxes; no account has it


@dataclass(frozen=True, kw_only=True)
class Limits:
    """The resource limits of one sandbox."""

    seconds: int = 120  # per command; also the CPU time of each process
    memory_bytes: int = 1 << 30  # of all processes together, and each one's address space
    disk_bytes: int = 256 << 20
    files: int = 20_000
    processes: int = 64
    open_files: int = 256
    output_bytes: int = 8 << 20  # of stdout and of stderr, per command


@dataclass(frozen=True, kw_only=True)
class Start:
    """How to start one sandbox; `folder` is where its `/tmp` is as seen from outside.

    `handles` are open files that the command inherits.
    """

    command: tuple[str, ...]
    handles: tuple[int, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    user: int | None = None
    folder: str = FOLDER


class Wall(Protocol):
    """Isolates what runs inside from what is outside."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def is_boundary(self) -> bool:
        """Whether it stops malicious code."""

    @property
    def detail(self) -> str:
        """A sentence about it, for people."""

    def open(self, limits: Limits) -> AbstractContextManager[Start]:
        """Create what a sandbox needs outside, and remove it at the end."""


@dataclass(frozen=True)
class Python:
    """The Python to use inside: its program, and the folder that it needs."""

    program: str
    prefix: str


def our_python() -> Python:
    """Return the Python that runs us, without its virtual environment."""
    prefix = os.path.realpath(sys.base_prefix)
    program = Path(prefix, "bin", "python{}.{}".format(*sys.version_info))
    if program.exists():
        return Python(str(program), prefix)
    return Python(os.path.realpath(sys.executable), prefix)


def agent_command(python: Python, limits: Limits, folder: str) -> tuple[str, ...]:
    """Return the command that runs the program of `sandbox_agent` in `folder`."""
    # Passed as text, since the wall may hide our files; -I and -S keep the environment and
    # site-packages out of the program.
    text = Path(__file__).with_name("sandbox_agent.py").read_text(encoding="utf-8")
    options = {**vars(limits), "folder": folder, "shown_folder": FOLDER, "shell": _shell()}
    return (python.program, "-I", "-S", "-c", text, json.dumps(options))


def environment(python: Python, folder: str) -> dict[str, str]:
    """Return the whole environment that commands see."""
    return {
        "PATH": f"{python.prefix}/bin:/usr/local/bin:/usr/bin:/bin",
        "HOME": folder,
        "TMPDIR": folder,
        "LANG": "C.UTF-8",
        "USER": "sandbox",
    }


def hidden_above(path: str) -> str | None:
    """Return the outermost folder on the way to `path` that other users cannot traverse."""
    for folder in [*reversed(Path(path).parents), Path(path)]:
        if not folder.stat().st_mode & 0o001:
            return str(folder)
    return None


def _shell() -> str:
    return shutil.which("bash", path="/bin:/usr/bin") or "/bin/sh"
