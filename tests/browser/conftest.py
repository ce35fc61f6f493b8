"""A real browser for tests: one per run, with a fresh page and no stored state for each test."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio

from tests.support.browsers import browser_program
from tests.support.console import Console, open_console
from tests.support.databases import fresh_database
from tests.support.waiting import SOON

if TYPE_CHECKING:
    from playwright.async_api import Browser, BrowserContext, ConsoleMessage, Page, Request

ARGUMENTS = (
    "--no-sandbox",  # root has no sandbox; only the program's own pages are opened
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--renderer-process-limit=1",  # a process for each page takes a sixth of a second
)
KOREAN = "ko-KR"
MILLISECONDS = 1000 * SOON  # the longest that a test waits for a page


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)
            item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser() -> AsyncIterator[Browser]:
    """The browser. Its pages run on the event loop of the session, and so do the tests here."""
    program = browser_program()
    from playwright.async_api import async_playwright

    async with async_playwright() as playwright:
        opened = await playwright.chromium.launch(executable_path=program, args=[*ARGUMENTS])
        yield opened
        await opened.close()


@pytest.fixture
def locale() -> str:
    """The language the browser requests; `@pytest.mark.parametrize("locale", ["en-US"])`."""
    return KOREAN


@pytest_asyncio.fixture(loop_scope="session")
async def context(browser: Browser, locale: str) -> AsyncIterator[BrowserContext]:
    """Cookies, storage and a language of this test's own; more pages can be opened in it."""
    opened = await browser.new_context(locale=locale)
    opened.set_default_timeout(MILLISECONDS)
    yield opened
    await opened.close()


@pytest_asyncio.fixture(loop_scope="session")
async def page(context: BrowserContext) -> Page:
    """An empty page."""
    return await context.new_page()


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def console(
    server: str, template: str, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Console]:
    """A worker with its console, one per run; each test has tenants of its own."""
    with fresh_database(server, template) as database:
        home = tmp_path_factory.mktemp("console") / "home"
        async with open_console(database, home) as opened:
            yield opened


@pytest_asyncio.fixture(loop_scope="session")
async def complaints(context: BrowserContext, console: Console) -> AsyncIterator[list[str]]:
    """What the browser reports, and each request that leaves the server: none, at the end.

    A test that expects some removes them.
    """
    found: list[str] = []
    own = (f"{console.base}/", f"{console.base.replace('http', 'ws', 1)}/", "data:", "blob:")

    def heard(said: ConsoleMessage) -> None:
        if said.type in {"error", "warning"}:
            found.append(f"console {said.type}: {said.text}")

    def asked(request: Request) -> None:
        if not request.url.startswith(own):
            found.append(f"request to {request.url}")

    context.on("console", heard)
    context.on("request", asked)
    context.on("weberror", lambda error: found.append(f"error: {error.error}"))
    context.on("dialog", lambda dialog: found.append(f"dialog: {dialog.message}"))
    yield found
    assert found == []


@pytest.fixture
def enter(console: Console) -> Callable[..., Awaitable[str]]:
    """Create a tenant with an agent `desk`, and sign a page in as one of its reviewers."""

    async def go(page: Page, name: str = "reviewer") -> str:
        tenant = await console.tenant(("desk", "주문 담당"))
        await console.enter(page, tenant, name=name)
        return tenant

    return go
