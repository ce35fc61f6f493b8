"""A worker that serves the API, as a process: who is admitted, and who is not."""

from __future__ import annotations

import json
import re
import signal
import socket
import stat
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import psycopg
import pytest

from core.app.settings import load_settings
from core.domain.errors import ConfigurationError
from core.entrypoints.cli.front import make_front
from tests.support.commands import finish, start, wait_for
from tests.support.databases import url_of
from tests.support.waiting import AT_LAST, SOON

ONCE = "Waiting for feedback"


@dataclass
class Place:
    """A home on this test's own database, and the processes that were started in it."""

    home: Path
    database: str

    def __post_init__(self) -> None:
        self.begun: list[subprocess.Popen[str]] = []

    def begin(self, *arguments: str, **settings: str) -> subprocess.Popen[str]:
        """Start a command."""
        given = {"DATABASE_URL": url_of(self.database), **settings}
        self.begun.append(start(self.home, *arguments, **given))
        return self.begun[-1]

    def serve(self, *arguments: str, **settings: str) -> tuple[subprocess.Popen[str], str]:
        """Start a worker that serves the API; return its URL once it is open."""
        worker = self.begin("run", "--api", "--offline", "--port", "0", *arguments, **settings)
        url: str = json.loads(wait_for(worker, "server.started"))["url"]
        wait_for(worker, ONCE)
        return worker, url

    def ask(self, *arguments: str) -> dict[str, object]:
        """Run a command with --json."""
        given = {"DATABASE_URL": url_of(self.database)}
        code, out, err = finish(self.home, *arguments, "--json", **given)
        assert code == 0, out + err
        answer: dict[str, object] = json.loads(out)
        return answer

    def secret(self, *arguments: str) -> str:
        """Create a token; return its secret."""
        return str(self.ask("tokens", "add", *arguments)["secret"])


@pytest.fixture
def place(tmp_path: Path, database: str) -> Iterator[Place]:
    made = Place(tmp_path, database)
    yield made
    for process in made.begun:
        if process.poll() is None:
            process.kill()
            process.communicate(timeout=SOON)


def call(
    url: str, token: str | None = None, method: str = "GET", body: object = None, **headers: str
) -> tuple[int, dict[str, object], dict[str, str]]:
    """Call once; return status, JSON and headers in lower case."""
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    if token is not None:
        given["Authorization"] = f"Bearer {token}"
    data = None
    if body is not None:
        data, given["Content-Type"] = json.dumps(body).encode(), "application/json"
    request = urllib.request.Request(url, data, given, method=method)
    try:
        with urllib.request.urlopen(request, timeout=SOON) as answer:
            status, text, told = answer.status, answer.read(), answer.headers
    except urllib.error.HTTPError as error:
        status, text, told = error.code, error.read(), error.headers
    return status, json.loads(text), {name.lower(): value for name, value in told.items()}


def end(worker: subprocess.Popen[str]) -> str:
    worker.send_signal(signal.SIGTERM)
    _, err = worker.communicate(timeout=SOON)
    assert worker.returncode == 0, err
    assert "Traceback" not in err
    return err


def test_the_first_token_opens_the_api_and_nothing_else_does(place: Place) -> None:
    worker = place.begin("run", "--api", "--offline", "--port", "0")
    url = json.loads(wait_for(worker, "server.started"))["url"]
    told = wait_for(worker, "A first token")
    wait_for(worker, ONCE)
    file = place.home / "token"
    assert str(file) in told
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    first = file.read_text().strip()
    me = f"{url}/v1/feedback"
    assert call(me, first)[0] == 200
    status, problem, headers = call(me)
    assert (status, problem["kind"]) == (401, "unauthorized")
    assert (headers["www-authenticate"], headers["content-type"]) == (
        "Bearer",
        "application/problem+json",
    )
    assert call(me, first[:-1] + ("A" if first[-1] != "A" else "B"))[0] == 401
    assert call(f"{me}?token={first}")[0] == 401
    assert call(me, first, Host="evil.example")[0] == 403
    assert call(me, first, Origin="https://evil.example")[0] == 403
    assert call(me, first, Origin=url)[0] == 200
    assert call(f"{url}/v1/nothing", first)[1]["kind"] == "not_found"
    assert call(f"{url}/console/enter")[0] == 401
    assert call(f"{url}/healthz")[0] == 200
    assert call(f"{url}/readyz")[1]["ready"] is True
    said = end(worker)
    assert first not in said
    again, url = place.serve()
    assert file.read_text().strip() == first
    assert call(f"{url}/v1/feedback", first)[0] == 200
    assert "A first token" not in end(again)


def test_a_token_ends_at_once_when_it_is_revoked_or_expires(place: Place) -> None:
    revoked = place.secret("--name", "one", "--role", "read")
    brief = place.secret("--name", "two", "--role", "read", "--expires-days", "1")
    _, url = place.serve()
    assert not (place.home / "token").exists()
    for secret in (revoked, brief):
        assert call(f"{url}/v1/feedback", secret)[0] == 200
    place.ask("tokens", "revoke", "one")
    with psycopg.connect(place.database) as conn:
        conn.execute("UPDATE access_tokens SET expires_at = now() WHERE name = 'two'")
    for secret in (revoked, brief):
        assert call(f"{url}/v1/feedback", secret)[0] == 401


def test_what_is_another_tenants_does_not_exist_and_roles_are_kept_apart(place: Place) -> None:
    secrets = {
        tenant: place.secret("--name", tenant, "--tenant", tenant, "--role", "submit")
        for tenant in ("acme", "other")
    }
    readers = {
        tenant: place.secret("--name", f"r-{tenant}", "--tenant", tenant, "--role", "read")
        for tenant in ("acme", "other")
    }
    place.ask("agents", "add", "--id", "a", "--tenant", "acme", "--name", "A")
    _, url = place.serve()
    body = {"tenant_id": "acme", "content": "원화로", "agent_ids": ["a"]}
    feedback = place.ask("feedback", "add", "--agent", "a", "--tenant", "acme", "--text", "원화로")
    (item,) = feedback.get("items", [feedback])  # type: ignore[misc]
    path = f"{url}/v1/feedback/{item['id']}"
    assert call(path, readers["acme"])[0] == 200
    assert call(path, readers["other"])[0] == 404
    assert call(path, secrets["acme"])[0] == 403
    assert call(f"{url}/v1/feedback", readers["acme"], "POST", body)[0] == 403


def test_the_same_post_under_a_key_is_carried_out_once(place: Place) -> None:
    secret = place.secret("--name", "ops", "--role", "operate", "--role", "read")
    _, url = place.serve()
    pause = f"{url}/v1/intake/pause"
    first = call(pause, secret, "POST", {"reason": "점검"}, Idempotency_Key="k1")
    again = call(pause, secret, "POST", {"reason": "점검"}, Idempotency_Key="k1")
    assert first[:2] == again[:2]
    assert ("idempotent-replay" in first[2], again[2]["idempotent-replay"]) == (False, "true")
    other = call(pause, secret, "POST", {"reason": "다른 이유"}, Idempotency_Key="k1")
    assert (other[0], other[1]["kind"]) == (422, "invalid")


def test_beyond_loopback_a_token_has_to_be_made_on_purpose(place: Place) -> None:
    everywhere = ("run", "--api", "--offline", "--host", "0.0.0.0", "--port", "0")
    _, url = place.serve()  # creates the first token, which nobody asked for
    refused = place.begin(*everywhere)
    _, err = refused.communicate(timeout=AT_LAST)
    assert refused.returncode == 4
    assert "no token was made on purpose" in err
    assert "hint: make one with `skill-worker tokens add`" in err
    secret = place.secret("--name", "mine", "--role", "read")
    worker = place.begin(*everywhere)
    port = re.search(r":(\d+)", json.loads(wait_for(worker, "server.started"))["url"])
    assert port
    wait_for(worker, ONCE)
    for host in ("10.0.0.7", "any.example"):
        answer = call(f"http://127.0.0.1:{port[1]}/v1/feedback", secret, Host=host)
        assert answer[0] == 200
    assert url


def test_beyond_loopback_without_any_token_none_is_made(place: Place) -> None:
    refused = place.begin("run", "--api", "--offline", "--host", "0.0.0.0", "--port", "0")
    _, err = refused.communicate(timeout=AT_LAST)
    assert (refused.returncode, "on purpose" in err) == (4, True)
    assert not (place.home / "token").exists()
    assert place.ask("tokens", "list")["items"] == []


def test_only_names_that_are_set_are_let_in_where_they_are(place: Place) -> None:
    secret = place.secret("--name", "mine", "--role", "read")
    worker, url = place.serve(API_HOSTS="console.example, api.example")
    for host, expected in (("api.example", 200), ("console.example:443", 200), ("x.y", 403)):
        assert call(f"{url}/v1/feedback", secret, Host=host)[0] == expected
    end(worker)


def test_what_serves_for_long_is_no_part_of_a_run_that_ends_by_itself(place: Place) -> None:
    for option in ("--once", "--dry-run"):
        process = place.begin("run", "--api", "--offline", option)
        _, err = process.communicate(timeout=AT_LAST)
        assert (process.returncode, "as long as the worker runs" in err) == (2, True)


def test_a_stream_does_not_hold_up_the_end(place: Place) -> None:
    secret = place.secret("--name", "mine", "--role", "read")
    worker, url = place.serve()
    host, port = url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=SOON) as stream:
        stream.sendall(
            f"GET /v1/events HTTP/1.1\r\nHost: {host}:{port}\r\n"
            f"Authorization: Bearer {secret}\r\n\r\n".encode()
        )
        assert b"200 OK" in stream.recv(4096)
        assert "graceful shutdown exceeded" not in end(worker)


def test_the_console_opens_by_a_link_that_is_good_for_once(place: Place) -> None:
    worker = place.begin("run", "--console", "--offline", "--port", "0")
    told = wait_for(worker, "Console: ")
    found = re.search(r"(http://127\.0\.0\.1:\d+)(/console/enter\?key=\S+) ", told)
    assert found
    url, way = found.groups()
    wait_for(worker, ONCE)
    page = {"accept": "text/html"}
    with httpx.Client(base_url=url, headers=page, timeout=SOON) as browser:
        led = browser.get("/console/")
        assert (led.status_code, led.headers["location"]) == (303, "/console/enter")
        assert browser.get(way).status_code == 200
        key = {"key": way.rpartition("=")[2]}
        entered = browser.post("/console/enter", data=key)
        assert (entered.status_code, entered.headers["location"]) == (303, "/console/")
        assert browser.get("/console/").status_code == 200
        assert browser.get("/", follow_redirects=True).url.path == "/console/"
        nothing = browser.get("/nothing")
        assert (nothing.status_code, nothing.json()["kind"]) == (404, "not_found")
        assert browser.get("/readyz").json()["ready"] is True
        assert browser.get("/console/", headers={"origin": "http://x.y"}).status_code == 403
        assert browser.post("/console/leave").status_code == 200
        assert browser.get("/console/").status_code == 303
    with httpx.Client(base_url=url, headers=page, timeout=SOON) as other:
        again = other.post("/console/enter", data=key)
        assert (again.status_code, "does not work any more" in again.text) == (403, True)
    assert way.rpartition("=")[2] not in end(worker)


def test_a_console_that_is_not_installed_is_told_before_anything_is_served(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.startswith("core.entrypoints.console")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "nicegui", None)
    settings = load_settings({"skill_worker_home": tmp_path}, env_file=None)
    with pytest.raises(ConfigurationError, match="nicegui") as caught:
        make_front(settings, console=True)
    assert "skill-worker[console]" in caught.value.hint
