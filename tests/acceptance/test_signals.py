"""Services stop on a signal, leave nothing running, and a killed one harms no other."""

from __future__ import annotations

import json
import signal
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.commands import start, wait_for
from tests.support.processes import servers
from tests.support.used_home import used_home
from tests.support.waiting import AT_LAST, SOON


@pytest.fixture
def home() -> Iterator[Path]:
    with used_home() as here:
        yield here


@pytest.mark.parametrize(
    ("number", "fresh"),
    [
        (signal.SIGTERM, False),
        (signal.SIGHUP, False),
        # From the shell: its imports take five times as long as all else of it.
        pytest.param(signal.SIGTERM, True, marks=pytest.mark.nightly),
        pytest.param(signal.SIGINT, False, marks=pytest.mark.nightly),
    ],
)
def test_a_worker_that_is_told_once_ends_well(
    home: Path, number: signal.Signals, fresh: bool
) -> None:
    worker = start(home, "run", "--offline", fresh=fresh)
    wait_for(worker, "Waiting for feedback")
    worker.send_signal(number)
    _, err = worker.communicate(timeout=SOON)
    assert worker.returncode == 0, err
    assert "Traceback" not in err
    assert servers(home) == []


def test_after_a_kill_the_next_command_cleans_up(home: Path) -> None:
    worker = start(home, "run", "--offline")
    wait_for(worker, "Waiting for feedback")
    worker.kill()
    worker.communicate(timeout=SOON)
    following = start(home, "agents", "list", "--json")
    out, err = following.communicate(timeout=AT_LAST)
    assert following.returncode == 0, err
    assert json.loads(out) == {"items": [], "next": None}
    assert servers(home) == []


def test_the_skill_server_serves_until_it_is_told(home: Path) -> None:
    server = start(home, "serve", "skills", "--port", "0")
    url = json.loads(wait_for(server, "server.started"))["url"]
    bearer = {"Authorization": f"Bearer {(home / 'skills.token').read_text('utf-8').strip()}"}
    call = urllib.request.Request(f"{url}/health", headers=bearer)
    with urllib.request.urlopen(call, timeout=SOON) as response:
        assert json.load(response)["status"] == "ok"
    server.send_signal(signal.SIGTERM)
    _, err = server.communicate(timeout=SOON)
    assert server.returncode == 0, err
    assert "Traceback" not in err
