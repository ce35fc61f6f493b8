"""Interrupted commands: one sentence, the signal's exit code, and nothing lost or left behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.adapters.postgres.pool import BORROW_SECONDS
from tests.support.commands import finish, silent_server, start, wait_for
from tests.support.processes import kill_servers, servers
from tests.support.used_home import used_home
from tests.support.waiting import AT_LAST, NEVER, SOON, within

AGENT = ("agents", "add", "--id", "a1", "--tenant", "t", "--name", "주문 담당")
FEEDBACK = ("feedback", "add", "--agent", "a1", "--tenant", "t", "--text", "원화로 적어 주세요")
PATIENT = {"SHUTDOWN_GRACE_SECONDS": f"{NEVER:g}", "STALLED_AFTER_SECONDS": f"{NEVER:g}"}

SIGNALS = [(signal.SIGINT, 130), pytest.param(signal.SIGTERM, 143, marks=pytest.mark.nightly)]


@pytest.fixture
def home() -> Iterator[Path]:
    with used_home() as here:
        yield here


@pytest.fixture
def busy(home: Path) -> Iterator[subprocess.Popen[str]]:
    """A worker that waits for its model's answer."""
    assert finish(home, *AGENT)[0] == 0
    assert finish(home, *FEEDBACK)[0] == 0
    with silent_server() as url:
        worker = start(home, "run", LLM_PROXY_URL=url, LLM_MODEL="silent", **PATIENT)
        wait_for(worker, "run.started")
        yield worker
        worker.communicate(timeout=SOON)


@pytest.mark.parametrize(("number", "code"), SIGNALS)
def test_the_second_signal_gives_the_work_back_in_one_sentence(
    home: Path, busy: subprocess.Popen[str], number: signal.Signals, code: int
) -> None:
    busy.send_signal(number)
    wait_for(busy, "Finishing what is in progress")
    busy.send_signal(number)
    _, err = busy.communicate(timeout=SOON)
    assert busy.returncode == code
    assert err == "Stopping at once; what is unfinished is taken up again later.\n"
    _, out, _ = finish(home, "feedback", "list", "--json")
    assert [item["status"] for item in json.loads(out)["items"]] == ["queued"]
    assert servers(home) == []


def test_what_a_killed_worker_had_is_taken_up_at_once_by_the_next(
    home: Path, busy: subprocess.Popen[str]
) -> None:
    busy.kill()
    busy.wait(timeout=SOON)
    with within():
        code, out, err = finish(home, "run", "--once", "--offline", "--json", **PATIENT)
    assert code == 0, err
    assert json.loads(out) == {
        "counts": {"completed": 1},
        "unhappy": [],
        "partly": [],
        "warned": 0,
        "screened": 0,
        "resting": [],
    }
    assert servers(home) == []


def test_a_worker_whose_database_has_gone_does_not_wait_for_it(
    home: Path, busy: subprocess.Popen[str]
) -> None:
    kill_servers(home)
    busy.send_signal(signal.SIGTERM)
    with within(BORROW_SECONDS):
        busy.communicate()


@pytest.mark.parametrize(("number", "code"), SIGNALS)
def test_a_demo_that_is_interrupted_shows_no_part_as_if_it_were_all(
    home: Path, number: signal.Signals, code: int
) -> None:
    demo = start(home, "demo", TMPDIR=str(home))
    wait_for(demo, "Starting PostgreSQL")
    os.killpg(demo.pid, number)
    out, err = demo.communicate(timeout=AT_LAST)
    assert demo.returncode == code, err
    assert out == ""
    assert err.endswith("Ending the demo.\nstopped\n")
    assert list(home.glob("skill-worker-demo-*")) == []
    assert servers(home) == []
