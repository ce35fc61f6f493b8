"""A worker as a process: its three pages, their URLs, and what a signal does to them."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.support.blocked_model import blocked_model
from tests.support.commands import finish, start, wait_for
from tests.support.databases import url_of
from tests.support.metrics import samples
from tests.support.used_home import used_home
from tests.support.waiting import AT_LAST, SOON, wait_until

AGENT = ("agents", "add", "--id", "a1", "--tenant", "t", "--name", "주문 담당")
FEEDBACK = ("feedback", "add", "--agent", "a1", "--tenant", "t", "--text", "금액은 항상 원화로")


Place = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def home() -> Iterator[Path]:
    with used_home() as here:
        yield here


@pytest.fixture
def command(home: Path) -> Iterator[Place]:
    """Start commands in one home; what a test leaves running is killed."""
    started: list[subprocess.Popen[str]] = []

    def begin(*arguments: str, **settings: str) -> subprocess.Popen[str]:
        started.append(start(home, *arguments, **settings))
        return started[-1]

    yield begin
    for process in started:
        if process.poll() is None:
            process.kill()
            process.communicate(timeout=SOON)


@pytest.fixture
def place(command: Place, database: str) -> Place:
    """Start commands on this test's own database."""
    return lambda *arguments, **settings: command(
        *arguments, **{"DATABASE_URL": url_of(database), **settings}
    )


def get(url: str) -> tuple[int, str]:
    """Fetch a page; return its status and its text."""
    try:
        with urllib.request.urlopen(url, timeout=SOON) as response:
            return response.status, response.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def line_of(worker: subprocess.Popen[str], event: str) -> dict[str, str]:
    found: dict[str, str] = json.loads(wait_for(worker, event))
    return found


def end(worker: subprocess.Popen[str]) -> str:
    worker.send_signal(signal.SIGTERM)
    _, err = worker.communicate(timeout=SOON)
    assert worker.returncode == 0, err
    assert "Traceback" not in err
    return err


def test_a_worker_out_of_the_box_tells_of_itself(home: Path, command: Place) -> None:
    worker = command("run", "--offline", "--port", "0", WORKER_NAME="일꾼-1")
    started = line_of(worker, "server.started")
    assert started["worker"] == "일꾼-1"
    url = started["url"]
    assert url.startswith("http://127.0.0.1:")
    assert get(f"{url}/healthz")[0] == 200
    wait_until(lambda: get(f"{url}/readyz")[0] == 200)
    assert json.loads(get(f"{url}/readyz")[1]) == {
        "ready": True,
        "state": "working",
        "checks": {"database": "ok", "skill_api": "ok", "model": "ok"},
    }
    assert finish(home, *AGENT)[0] == 0
    assert finish(home, *FEEDBACK)[0] == 0
    ended = 'feedback_finished_total{status="completed"}'
    wait_until(lambda: samples(get(f"{url}/metrics")[1])[ended] == 1)
    found = samples(get(f"{url}/metrics")[1])
    assert found["feedback_claimed_total"] == 1
    assert found["model_calls_total"] >= 2
    assert found['changes_total{kind="MEMORY",operation="CREATE",outcome="applied"}'] == 1
    assert found["run_seconds_count"] == 1
    wait_until(lambda: samples(get(f"{url}/metrics")[1])['feedback{status="completed"}'] == 1)
    assert get(f"{url}/secrets")[0] == 404
    assert '"worker": "일꾼-1"' in end(worker)


def said(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    out, err = process.communicate(timeout=AT_LAST)
    return process.returncode, out, err


def test_while_the_last_work_is_finished_a_worker_is_alive_but_not_ready(place: Place) -> None:
    assert said(place(*AGENT))[0] == 0
    assert said(place(*FEEDBACK))[0] == 0
    with blocked_model() as model:
        worker = place("run", "--port", "0", LLM_PROXY_URL=model.url, LLM_MODEL="held")
        url = line_of(worker, "server.started")["url"]
        assert model.asked.wait(SOON)
        assert samples(get(f"{url}/metrics")[1])["running"] == 1
        worker.send_signal(signal.SIGTERM)
        wait_for(worker, "Finishing what is in progress")
        status, text = get(f"{url}/readyz")
        assert (status, json.loads(text)["state"]) == (503, "stopping")
        assert get(f"{url}/healthz")[0] == 200
        assert said(place(*FEEDBACK))[0] == 0  # too late for this worker
        model.goes_on.set()
        _, err = worker.communicate(timeout=SOON)
    assert worker.returncode == 0, err
    _, out, _ = said(place("feedback", "list", "--json"))
    assert [item["status"] for item in json.loads(out)["items"]] == ["queued", "no_action"]


def test_what_outlasts_the_grace_is_given_back_and_uses_no_attempt(
    place: Place,
) -> None:
    assert said(place(*AGENT))[0] == 0
    assert said(place(*FEEDBACK))[0] == 0
    with blocked_model() as model:
        worker = place(
            "run",
            "--port=0",
            LLM_PROXY_URL=model.url,
            LLM_MODEL="held",
            SHUTDOWN_GRACE_SECONDS="1.5",
        )
        assert model.asked.wait(SOON)
        began = time.monotonic()
        worker.send_signal(signal.SIGTERM)
        _, err = worker.communicate(timeout=SOON)
        assert time.monotonic() - began > 1.4
    assert worker.returncode == 0, err
    _, out, _ = said(place("feedback", "list", "--json"))
    (item,) = json.loads(out)["items"]
    assert (item["status"], item["attempts"]) == ("queued", 0)


def _takes(listener: socket.socket, port: int) -> bool:
    """Whether the port could be taken; workers of other tests may have it for a while."""
    try:
        listener.bind(("127.0.0.1", port))
        listener.listen()
    except OSError:
        return False
    return True


def test_a_port_that_is_taken_is_another_one_unless_it_was_asked_for(place: Place) -> None:
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        with suppress(AssertionError):  # whoever has it for so long serves as well
            wait_until(lambda: _takes(listener, 8720))
        worker = place("run", "--offline")
        url = line_of(worker, "server.started")["url"]
        taken = url.rpartition(":")[2]
        assert taken != "8720"
        assert get(f"{url}/healthz")[0] == 200
        code, _, err = said(place("run", "--offline", "--port", taken))
        assert code == 4
        assert f"cannot listen on 127.0.0.1:{taken}" in err
        code, _, err = said(place("run", "--offline", HEALTH_PORT=taken))
        assert code == 4
        end(worker)


def test_a_run_that_ends_by_itself_tells_only_where_it_is_asked_to(place: Place) -> None:
    code, _, err = said(place("run", "--offline", "--once"))
    assert (code, "server.started" in err) == (0, False)
    code, _, err = said(place("run", "--offline", "--once", "--port", "0"))
    assert (code, "server.started" in err) == (0, True)
