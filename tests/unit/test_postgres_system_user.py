"""On a fresh machine several processes may need the system user of PostgreSQL at once."""

from __future__ import annotations

import fcntl
import os
import pwd
import threading
from pathlib import Path

import pytest

from core.adapters.embedded.postgres import ACCOUNTS, ServerUser, server_user


def is_free() -> bool:
    """Whether another could begin to make the user now."""
    with ACCOUNTS.open("rb") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True


def test_the_user_is_made_by_one_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two concurrent `useradd` gave it two uids, and the first reader got the wrong one."""
    inside = 0
    most = 0
    free: list[bool] = []

    def make(_name: str) -> None:
        nonlocal inside, most
        inside += 1
        most = max(most, inside)
        free.append(is_free())
        inside -= 1

    us = pwd.getpwuid(os.getuid())
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(pwd, "getpwnam", lambda _name: us)
    found: list[ServerUser | None] = []
    threads = [
        threading.Thread(target=lambda: found.append(server_user(tmp_path, make, tmp_path)))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [ServerUser(us.pw_uid, us.pw_gid)] * 4
    assert (most, free) == (1, [False] * 4)
