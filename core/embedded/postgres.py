"""A PostgreSQL of our own, so that a newcomer needs no database service."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from core.embedded.postgres_server import Cluster
from core.embedded.postgres_system_user import server_user
from core.errors import ConfigurationError

HOME_HINT = "Set SKILL_WORKER_HOME to a directory you can write to, or DATABASE_URL to a server."


@contextmanager
def embedded_postgres(
    home: Path, on_alone: Callable[[str], None] = lambda _uri: None
) -> Iterator[str]:
    """Give the URI of the PostgreSQL whose files are under `home`, started where it is not.

    Every process that is inside shares one server; the last one to leave stops it, also where
    others were killed. The kernel keeps the count: each user holds a shared lock on a file, and
    whoever can have it exclusively is alone. Starting and stopping take turns at a second lock.
    `on_alone` gets the URI where nobody else is inside, before anybody else can come in.
    Raises ConfigurationError where `home` cannot be used, DatabaseDown where the server does
    not start.
    """
    home = _writable(home)
    cluster = Cluster(home / "postgres", server_user(home))
    with _open_lock(home / ".postgres-users") as users:
        try:
            with _turn(home):
                is_alone = _is_alone(users)
                fcntl.flock(users, fcntl.LOCK_SH)
                uri = cluster.ensure_running()
                if is_alone:
                    on_alone(uri)
            yield uri
        finally:
            with _turn(home):
                if _is_alone(users):
                    cluster.stop()
                fcntl.flock(users, fcntl.LOCK_UN)


def _writable(home: Path) -> Path:
    """Make `home`, for its owner alone, and try to write there."""
    home = home.expanduser().absolute()
    try:
        home.mkdir(parents=True, exist_ok=True, mode=0o700)
        home = home.resolve(strict=True)
        with _open_lock(home / ".postgres-turn"):
            return home
    except OSError as error:
        raise ConfigurationError(
            f"The home directory {home} cannot be used: {error.strerror}.", hint=HOME_HINT
        ) from error


@contextmanager
def _open_lock(path: Path) -> Iterator[int]:
    """Open a lock file. Each opening is a user of its own, also within one process."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        yield handle
    finally:
        os.close(handle)


@contextmanager
def _turn(home: Path) -> Iterator[None]:
    """Wait for the right to start or stop the server."""
    with _open_lock(home / ".postgres-turn") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def _is_alone(users: int) -> bool:
    try:
        fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
