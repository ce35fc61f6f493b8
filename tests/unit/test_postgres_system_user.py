"""On a fresh machine several processes may need the system user of PostgreSQL at once."""

from __future__ import annotations

import os
import pwd
import threading
import time
from pathlib import Path

import pytest

from core.adapters.embedded import postgres
from core.adapters.embedded.postgres import ServerUser, server_user


def test_the_user_is_made_by_one_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two concurrent `useradd` gave it two uids, and the first reader got the wrong one."""
    inside = 0
    most = 0

    def make(_name: str) -> None:
        nonlocal inside, most
        inside += 1
        most = max(most, inside)
        time.sleep(0.05)
        inside -= 1

    us = pwd.getpwuid(os.getuid())
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(pwd, "getpwnam", lambda _name: us)
    monkeypatch.setattr(postgres, "ensure_user", make)
    monkeypatch.setattr(postgres, "programs", lambda: tmp_path)
    found: list[ServerUser | None] = []
    threads = [
        threading.Thread(target=lambda: found.append(server_user(tmp_path))) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [ServerUser(us.pw_uid, us.pw_gid)] * 4
    assert most == 1
