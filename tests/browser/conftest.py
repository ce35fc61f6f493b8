"""A real browser for tests: one per run, with a fresh page and no stored state for each test."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import pytest_asyncio

from tests.support.browsers import browser_program
from tests.support.console import Console, open_console
from tests.support.databases import fresh_database
from tests.support.waiting import SOON

if TYPE_CHECKING:
    from playwright.async_api import Browser, BrowserContext, ConsoleMessage, Page, Request

HERE = f"{Path(__file__).parent}{os.sep}"
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
EVERYTHING = {"origin": "*", "storageTypes": "cookies,indexeddb,local_storage,service_workers"}
MILLISECONDS = 1000 * SOON  # the longest that a test waits for a page


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if str(item.path).startswith(HERE):
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


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def contexts(browser: Browser) -> AsyncIterator[dict[str, BrowserContext]]:
    """A context for each language: what one test has loaded, the next has in its cache."""
    made: dict[str, BrowserContext] = {}
    yield made
    for opened in made.values():
        await opened.close()


@pytest_asyncio.fixture(loop_scope="session")
async def context(
    browser: Browser, contexts: dict[str, BrowserContext], locale: str
) -> AsyncIterator[BrowserContext]:
    """A language of this test's own, no cookies and no storage; more pages can be opened in it."""
    if locale not in contexts:
        contexts[locale] = await browser.new_context(locale=locale)
        contexts[locale].set_default_timeout(MILLISECONDS)
    opened = contexts[locale]
    yield opened
    if opened.pages:
        devtools = await opened.new_cdp_session(opened.pages[0])
        await devtools.send("Storage.clearDataForOrigin", EVERYTHING)
    for page in opened.pages:
        await page.close()


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

    listeners: dict[Any, Callable[..., None]] = {
        "console": heard,
        "request": asked,
        "weberror": lambda error: found.append(f"error: {error.error}"),
        "dialog": lambda dialog: found.append(f"dialog: {dialog.message}"),
    }
    for event, listener in listeners.items():
        context.on(event, listener)
    yield found
    for event, listener in listeners.items():
        context.remove_listener(event, listener)
    assert found == []


@pytest.fixture
def enter(console: Console) -> Callable[..., Awaitable[str]]:
    """Create a tenant with an agent `desk`, and sign a page in as one of its reviewers."""

    async def go(page: Page, name: str = "reviewer") -> str:
        tenant = await console.tenant(("desk", "주문 담당"))
        await console.enter(page, tenant, name=name)
        return tenant

    return go
