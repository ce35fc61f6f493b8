"""A worker with its console as users run it: in its own process, over HTTP."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from html import unescape
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

import httpx
from pydantic import JsonValue

from core.adapters.postgres.pool import open_pool
from core.adapters.postgres.tokens import PostgresTokens
from core.app.bootstrap.stores import new_id
from core.domain.models.access import Role
from core.entrypoints.auth import Access, Grant
from tests.support.databases import url_of
from tests.support.waiting import AT_LAST, SOON

if TYPE_CHECKING:
    from playwright.async_api import Page

Data = dict[str, JsonValue]
_LINK = re.compile(r"(http://[^ ]+)/console/enter\?key=")


KOREAN = {"Accept-Language": "ko-KR"}
FACT = "고객에게 보내는 금액은 원화로 표기하고 소수점은 쓰지 않는다"
JEJU = "배송 지역이 제주이면 배송비는 3000원을 받는다"

Enter = Callable[..., Awaitable[str]]  # signs a page in as a reviewer of a tenant created for it


def query_of(page: Page) -> dict[str, str]:
    """Return the query of a page's address."""
    return {name: values[0] for name, values in parse_qs(urlsplit(page.url).query).items()}


async def facing_a_change(console: Console, page: Page, enter: Enter) -> str:
    """Let a reviewer open the only held change of a new tenant, and return that tenant."""
    tenant = await enter(page)
    await console.say(tenant, "desk", FACT)
    await page.goto(f"{console.base}/console/review")
    await page.get_by_role("button", name="승인").wait_for()
    return tenant


def take_out(complaints: list[str], *statuses: int) -> None:
    """Remove browser complaints about answers with these statuses, which were expected."""
    told = tuple(f"status of {status}" for status in statuses)
    expected = [text for text in complaints if any(one in text for one in told)]
    assert expected
    for text in expected:
        complaints.remove(text)


def item_page(console: Console, change: Data) -> str:
    """Return the address of the page of a change's target."""
    where = f"kind={change['kind']}&tenant={change['tenant_id']}&id={change['target_id']}"
    return f"{console.base}/console/knowledge/item?{where}"


@dataclass
class Console:
    """A worker that serves at `base`; `token` may do everything."""

    base: str
    token: str
    access: Access
    log: Path
    database: str
    restart: Callable[[], Awaitable[None]]

    async def tenant(self, *agents: tuple[str, str]) -> str:
        """Create a tenant for the test with agents (id, name), and return its name."""
        name = f"t{uuid.uuid4().hex[:8]}"
        async with self.client() as http:
            for agent_id, agent_name in agents:
                body = {"tenant_id": name, "name": agent_name}
                made = await http.put(f"/v1/agents/{name}-{agent_id}", json=body)
                assert made.is_success, made.text
        return name

    async def enter(
        self, page: Page, tenant: str | None, *roles: Role, name: str = "reviewer"
    ) -> None:
        """Sign the browser of a page in; the page stays where it is.

        It does what the button of a link does, without loading two pages first.
        """
        key = await self._key(tenant, *roles, name=name)
        answer = await page.context.request.post(
            f"{self.base}/console/enter", form={"key": key}, max_redirects=0
        )
        assert answer.status == HTTPStatus.SEE_OTHER, await answer.text()

    async def enter_by_link(
        self, page: Page, tenant: str | None, *roles: Role, name: str = "reviewer"
    ) -> None:
        """Sign in as people do: by a link, and the button that it leads to; end at the overview."""
        key = await self._key(tenant, *roles, name=name)
        await page.goto(f"{self.base}/console/enter?key={key}")
        await page.locator("button").click()
        await page.wait_for_url(f"{self.base}/console/")

    async def shown(self, page: Page, path: str) -> tuple[int, str]:
        """Return the status of a page and all it shows before any script has run.

        To load it in the browser takes ten times as long, most of it for scripts.
        """
        answer = await page.request.get(f"{self.base}/console{path}", headers=KOREAN)
        return answer.status, unescape(unescape(await answer.text()))

    async def _key(self, tenant: str | None, *roles: Role, name: str) -> str:
        """Return the key of a link that opens the console once, for one tenant."""
        grant = Grant(name=name, tenant_id=tenant, roles=roles or tuple(Role))
        return (await self.access.link(grant)).secret.get_secret_value()

    async def submit(self, tenant: str, agent: str, content: str, **more: JsonValue) -> str:
        """Submit feedback, and return its id at once."""
        body = {
            "tenant_id": tenant,
            "agent_ids": [f"{tenant}-{agent}"],
            "content": content,
            **more,
        }
        async with self.client() as http:
            taken = await http.post("/v1/feedback", json=body)
            assert taken.is_success, taken.text
            return str(taken.json()["id"])

    async def say(self, tenant: str, agent: str, content: str, **more: JsonValue) -> str:
        """Submit feedback, wait until it has ended, and return its id."""
        feedback_id = await self.submit(tenant, agent, content, **more)
        async with (
            self.client() as http,
            http.stream("GET", f"/v1/feedback/{feedback_id}/events") as stream,
        ):
            assert stream.is_success
            async for line in stream.aiter_lines():
                if line == "event: end":
                    return feedback_id
        raise AssertionError("the stream ended before the feedback did")

    async def teach(self, tenant: str, agent: str, content: str) -> Data:
        """Submit feedback, approve the only change it leads to, and return that change."""
        feedback_id = await self.say(tenant, agent, content)
        (change,) = [c for c in await self.changes(tenant) if c["feedback_id"] == feedback_id]
        assert (await self.approve(change)).is_success
        return change

    async def changes(self, tenant: str, **query: str) -> Sequence[Data]:
        """Return the tenant's changes, newest first."""
        found = await self.get("/v1/changes", tenant_id=tenant, **query)
        items = found["items"]
        assert isinstance(items, list)
        return [item for item in items if isinstance(item, dict)]

    async def approve(self, change: Data) -> httpx.Response:
        """Approve a change as it was listed."""
        async with self.client() as http:
            body = {"seen": change["content_hash"]}
            return await http.post(f"/v1/changes/{change['id']}/approve", json=body)

    async def edit(self, change: Data, content: str) -> None:
        """Put another text in the place of that of a change as it was listed."""
        async with self.client() as http:
            body = {"seen": change["content_hash"], "content": content}
            answer = await http.post(f"/v1/changes/{change['id']}/edit", json=body)
            assert answer.is_success, answer.text

    async def get(self, path: str, **query: str) -> Data:
        """Return an answer of the API."""
        async with self.client() as http:
            answer = await http.get(path, params=query)
            assert answer.is_success, answer.text
            data: Data = answer.json()
            return data

    async def logged(self, event: str) -> None:
        """Wait until the worker has logged an event."""
        async with asyncio.timeout(SOON):
            while f'"event": "{event}"' not in self.log.read_text("utf-8"):
                await asyncio.sleep(0.05)

    def client(self) -> httpx.AsyncClient:
        """Return a client that may do everything."""
        headers = {"Authorization": f"Bearer {self.token}"}
        return httpx.AsyncClient(base_url=self.base, headers=headers, timeout=SOON)


@asynccontextmanager
async def open_console(
    database: str, home: Path, *, policy: str = "all", **environment: str
) -> AsyncIterator[Console]:
    """Run `skill-worker run --console --offline` on a migrated database until the block ends."""
    command = [sys.executable, "-m", "core", "run", "--console", "--offline", "--port"]
    settings = {
        "DATABASE_URL": url_of(database),
        "SKILL_WORKER_HOME": str(home),
        "REVIEW_POLICY": policy,
        "LOG_FORMAT": "json",
        **environment,
    }
    log = home / "worker.log"
    home.mkdir(parents=True, exist_ok=True)

    def start(port: str) -> subprocess.Popen[bytes]:
        with log.open("ab") as out:
            environ = {**os.environ, **settings}
            return subprocess.Popen([*command, port], stderr=out, stdout=out, env=environ)

    async def restart() -> None:
        nonlocal worker
        worker.terminate()
        await asyncio.to_thread(worker.wait, SOON)
        worker = start(base.rpartition(":")[2])
        async with httpx.AsyncClient(base_url=base) as http, asyncio.timeout(AT_LAST):
            while not await _answers(http):
                assert worker.poll() is None, log.read_text("utf-8")
                await asyncio.sleep(0.1)

    worker = start("0")
    try:
        base = await _listening(worker, log)
        async with open_pool(database) as pool:
            access = Access(PostgresTokens(pool), new_id)
            token = (home / "token").read_text().strip()
            yield Console(base, token, access, log, database, restart)
    finally:
        worker.terminate()
        worker.wait(SOON)
        _see_no_trace(log)


async def _answers(http: httpx.AsyncClient) -> bool:
    try:
        return (await http.get("/healthz")).is_success
    except httpx.TransportError:
        return False


async def _listening(worker: subprocess.Popen[bytes], log: Path) -> str:
    """Return where it serves, once it says so."""
    async with asyncio.timeout(AT_LAST):
        while not (found := _LINK.search(log.read_text("utf-8"))):
            assert worker.poll() is None, log.read_text("utf-8")
            await asyncio.sleep(0.1)
    return found[1]


def _see_no_trace(log: Path) -> None:
    """Assert that nothing broke: an unexpected error shows as a traceback in the log."""
    lines = log.read_text("utf-8").splitlines()
    traces = [line for line in lines if "Traceback" in line or _is_defect(line)]
    assert not traces, "\n".join(traces)


def _is_defect(line: str) -> bool:
    """Whether a line reports an error, or a warning of the framework about a deleted element."""
    try:
        told = json.loads(line)
    except ValueError:
        return False
    by_framework = str(told.get("logger", "")).startswith("nicegui")
    # How long a look over no bindings at all took, on a machine that others use.
    is_slow = str(told.get("event")).startswith("binding propagation for 0 active links took ")
    return told.get("level") in {"error", "critical"} or (
        by_framework and told.get("level") == "warning" and not is_slow
    )
