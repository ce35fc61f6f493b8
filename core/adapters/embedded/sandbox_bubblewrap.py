"""The bubblewrap wall: namespaces, a read-only system, no network, no capabilities."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from core.adapters.embedded.sandbox_seccomp import DENIED, seccomp_filter
from core.adapters.embedded.sandbox_wall import (
    FOLDER,
    SANDBOX_UID,
    Limits,
    Python,
    Start,
    agent_command,
    environment,
    hidden_above,
    our_python,
)

_SYSTEM = ("/bin", "/sbin", "/lib", "/lib32", "/lib64")
_CONFIGURATION = ("/etc/ld.so.cache", "/etc/alternatives", "/etc/localtime")
_SHARED_MEMORY_BYTES = 16 << 20
_PROBE_SECONDS = 10


@dataclass(frozen=True)
class Bubblewrap:
    """Sandboxes in namespaces of their own; everything they write is in memory and vanishes."""

    program: str
    python: Python
    is_nesting_off: bool = True
    user: int = SANDBOX_UID
    name: str = "bubblewrap"
    is_boundary: bool = True

    @property
    def detail(self) -> str:
        """Describe what the wall does and what it does not."""
        filtered = seccomp_filter() is not None
        calls = f", {len(DENIED)} system calls denied" if filtered else ", no system-call filter"
        nested = "" if self.is_nesting_off or filtered else ", nested user namespaces possible"
        return f"{self.program}: own namespaces, no network, read-only system{calls}{nested}"

    @contextmanager
    def open(self, limits: Limits) -> Iterator[Start]:
        """Yield the command; nothing is needed outside but the filter."""
        with _filter_file() as handles:
            wall = self._wall(limits, handles)
            yield Start(
                command=(*wall, *agent_command(self.python, limits, FOLDER)),
                environment={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"},
                handles=handles,
            )

    def problem(self) -> str | None:
        """Try the wall; return what is wrong with it, None if it works."""
        try:
            with _filter_file() as handles:
                wall = self._wall(Limits(), handles)
                done = subprocess.run(  # noqa: S603 - our own programs and paths, without a shell
                    [*wall, self.python.program, "-I", "-S", "-c", ""],
                    stdin=subprocess.DEVNULL,
                    capture_output=True,
                    pass_fds=handles,
                    timeout=_PROBE_SECONDS,
                    check=False,
                )
        except (OSError, subprocess.TimeoutExpired) as error:
            return str(error)
        said = done.stderr.decode("utf-8", "replace").strip()
        return (said or f"exit status {done.returncode}") if done.returncode else None

    def _wall(self, limits: Limits, handles: tuple[int, ...]) -> tuple[str, ...]:
        prefix = self.python.prefix
        bind = () if Path(prefix).is_relative_to("/usr") else ("--ro-bind", prefix, prefix)
        variables = environment(self.python, FOLDER).items()
        return (
            *self._as_nobody(),
            self.program,
            *self._namespaces(),
            # In a session of its own, a command cannot push input into our terminal (TIOCSTI).
            *("--cap-drop", "ALL", "--die-with-parent", "--new-session", "--clearenv"),
            *(word for handle in handles for word in ("--seccomp", str(handle))),
            *(word for name, value in variables for word in ("--setenv", name, value)),
            *_system(),
            *("--proc", "/proc", "--dev", "/dev"),
            *_tmpfs("/dev/shm", _SHARED_MEMORY_BYTES),  # noqa: S108 - a path inside the sandbox
            *_tmpfs(FOLDER, limits.disk_bytes),
            *bind,
            *("--remount-ro", "/dev", "--remount-ro", "/", "--chdir", FOLDER, "--"),
        )

    def _namespaces(self) -> tuple[str, ...]:
        return (
            *("--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-net"),
            # As PID 1 the agent adopts orphans, and the kernel kills all that is left when it ends.
            *("--unshare-uts", "--unshare-cgroup-try", "--as-pid-1", "--hostname", "sandbox"),
            *("--uid", "1000", "--gid", "1000"),
            # In a nested user namespace a command would have capabilities again.
            *(("--disable-userns",) if self.is_nesting_off else ()),
        )

    def _as_nobody(self) -> tuple[str, ...]:
        """As root, switch to an unprivileged user before the wall is built.

        Process limits do not bind root, and root's files would stay readable. If our Python is in a
        folder that this user cannot traverse, that folder is covered by an empty one that contains
        nothing but Python.
        """
        if os.geteuid() != 0:
            return ()
        user = str(self.user)
        drop = (
            *("setpriv", "--reuid", user, "--regid", user, "--clear-groups"),
            *("--pdeathsig", "KILL", "--"),
        )
        hidden = hidden_above(self.python.prefix)
        return (*self._cover(hidden), *drop) if hidden else drop

    def _cover(self, hidden: str) -> tuple[str, ...]:
        prefix = self.python.prefix
        between = [path for path in reversed(Path(prefix).parents) if path.is_relative_to(hidden)][
            1:
        ]
        return (
            *(self.program, "--die-with-parent", "--dev-bind", "/", "/"),
            *("--perms", "0755", "--tmpfs", hidden),
            *(word for path in between for word in ("--dir", str(path))),
            *("--ro-bind", prefix, prefix, "--"),
        )


@contextmanager
def _filter_file() -> Iterator[tuple[int, ...]]:
    """Yield an open file with the system-call filter; none where there is no filter."""
    program = seccomp_filter()
    if program is None:
        yield ()
        return
    handle = os.memfd_create("seccomp")
    try:
        os.write(handle, program)
        os.lseek(handle, 0, os.SEEK_SET)
        yield (handle,)
    finally:
        os.close(handle)


def find_bubblewrap(
    search: str = os.defpath, user: int = SANDBOX_UID
) -> tuple[Bubblewrap | None, str]:
    """Return the wall if it can be built here, else None and the reason.

    `search` is the PATH in which to find the program; not that of the environment, since whoever
    controls it would choose the wall. `user` is the account that root's sandboxes run as.
    """
    program = shutil.which("bwrap", path=search)
    if program is None:
        return None, "bubblewrap (the program bwrap) is not installed"
    problem: str | None = None
    for python in _pythons():
        for is_nesting_off in (True, False):  # older than 0.8: nesting cannot be switched off
            wall = Bubblewrap(os.path.realpath(program), python, is_nesting_off, user)
            problem = wall.problem()
            if problem is None:
                return wall, ""
    return None, f"bubblewrap is installed but does not work here: {problem}"


def _pythons() -> list[Python]:
    system = Python("/usr/bin/python3", "/usr")
    return [our_python(), *([system] if Path(system.program).exists() else [])]


def _system() -> Iterator[str]:
    yield from ("--ro-bind", "/usr", "/usr")
    for path in map(Path, _SYSTEM):
        if path.is_symlink():
            yield from ("--symlink", os.readlink(path), str(path))
        elif path.exists():
            yield from ("--ro-bind", str(path), str(path))
    for name in _CONFIGURATION:
        yield from ("--ro-bind-try", name, name)
    yield from ("--symlink", FOLDER, "/var/tmp")  # noqa: S108 - a path inside the sandbox


def _tmpfs(path: str, size: int) -> tuple[str, ...]:
    return ("--size", str(size), "--tmpfs", path)
