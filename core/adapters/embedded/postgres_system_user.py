"""A system user to run PostgreSQL as when we are root, which PostgreSQL refuses."""

from __future__ import annotations

import fcntl
import os
import pwd
import stat
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import structlog

from core.adapters.embedded.postgres_wheel import ensure_user, programs
from core.domain.errors import ConfigurationError
from core.domain.messages import Message

SYSTEM_USER = "pgserver"
ACCOUNTS = Path("/etc")


@dataclass(frozen=True)
class ServerUser:
    """The numeric user and group the server runs as."""

    uid: int
    gid: int


def server_user(home: Path) -> ServerUser | None:
    """Return the system user to run as, or None if we are an ordinary user already.

    It gets search permission on the directories above its files. Raises ConfigurationError.
    """
    if os.geteuid() != 0:
        return None
    try:
        with _lock():
            ensure_user(SYSTEM_USER)
            entry = pwd.getpwnam(SYSTEM_USER)
    except (OSError, KeyError, subprocess.CalledProcessError) as error:
        raise ConfigurationError(
            Message(
                "embedded.no_user",
                "PostgreSQL does not run as root and the system user {user!r} cannot be made.",
                user=SYSTEM_USER,
            ),
            hint=Message(
                "embedded.hint_user", "Run as an ordinary user, or set DATABASE_URL to a server."
            ),
        ) from error
    for folder in (home, programs()):
        for path in (folder, *folder.parents):
            _let_through(path, is_ours=path == home)
    return ServerUser(entry.pw_uid, entry.pw_gid)


@contextmanager
def _lock() -> Iterator[None]:
    """Wait for the exclusive right to create the user: two `useradd` at once give it two ids."""
    handle = os.open(ACCOUNTS, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _let_through(path: Path, *, is_ours: bool) -> None:
    """Make a directory searchable; for a foreign one, log that once, since it persists."""
    mode = stat.S_IMODE(path.stat().st_mode)
    if mode & stat.S_IXOTH:
        return
    if not is_ours:
        structlog.get_logger().warning(
            "directory.opened", path=str(path), why=f"user {SYSTEM_USER} has to pass through it"
        )
    path.chmod(mode | stat.S_IXOTH)
