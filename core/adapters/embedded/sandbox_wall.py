"""What a wall is: how the program inside a sandbox is started, and within which limits."""

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

FOLDER = "/tmp"  # noqa: S108 - as it is seen inside, where it is private
SANDBOX_UID = 60_999  # of root's sandboxes; no account has it


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What one sandbox may use."""

    seconds: int = 120  # one command; also its CPU time per process
    memory_bytes: int = 1 << 30  # of all processes together, and of each one's address space
    disk_bytes: int = 256 << 20
    files: int = 20_000
    processes: int = 64
    open_files: int = 256
    output_bytes: int = 8 << 20  # of stdout and of stderr, per command


@dataclass(frozen=True, kw_only=True)
class Start:
    """How to start one sandbox; `folder` is where its `/tmp` is for those outside its wall."""

    command: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    user: int | None = None
    folder: str = FOLDER


class Wall(Protocol):
    """A way to keep what runs inside from what is outside."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def is_boundary(self) -> bool:
        """Whether code that means harm is held back by it."""

    @property
    def detail(self) -> str:
        """A sentence about it, for people."""

    def open(self, limits: Limits) -> AbstractContextManager[Start]:
        """Make what a sandbox needs outside, and clear it away at the end."""


@dataclass(frozen=True)
class Python:
    """A Python for the inside: its program, and the folder that it needs."""

    program: str
    prefix: str


def our_python() -> Python:
    """Give the Python that runs us, without a virtual environment around it."""
    prefix = os.path.realpath(sys.base_prefix)
    program = Path(prefix, "bin", "python{}.{}".format(*sys.version_info))
    if program.exists():
        return Python(str(program), prefix)
    return Python(os.path.realpath(sys.executable), prefix)


def agent_command(python: Python, limits: Limits, folder: str) -> tuple[str, ...]:
    """Give the command that runs the program of `sandbox_agent` in `folder`."""
    text = Path(__file__).with_name("sandbox_agent.py").read_text(encoding="utf-8")
    told = {**vars(limits), "folder": folder, "shown_folder": FOLDER, "shell": _shell()}
    return (python.program, "-I", "-S", "-c", text, json.dumps(told))


def environment(python: Python, folder: str) -> dict[str, str]:
    """Give all that commands see of an environment."""
    return {
        "PATH": f"{python.prefix}/bin:/usr/local/bin:/usr/bin:/bin",
        "HOME": folder,
        "TMPDIR": folder,
        "LANG": "C.UTF-8",
        "USER": "sandbox",
    }


def hidden_above(path: str) -> str | None:
    """Give the outermost folder on the way to `path` that other users cannot pass."""
    for folder in [*reversed(Path(path).parents), Path(path)]:
        if not folder.stat().st_mode & 0o001:
            return str(folder)
    return None


def _shell() -> str:
    return shutil.which("bash", path="/bin:/usr/bin") or "/bin/sh"
