"""The browser that other tests drive: it opens what is served here, and it can render Korean."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

import pytest

from tests.support.browsers import missing

if TYPE_CHECKING:
    from playwright.async_api import Page

PAGE = "<!doctype html><meta charset=utf-8><title>검토</title><h1>변경을 승인합니다</h1>"
NO_LETTER = "\U000f0000"  # of private use: no font has it, so a box is drawn
DRAWN = """text => {
  const canvas = document.createElement("canvas")
  canvas.width = canvas.height = 120
  const pen = canvas.getContext("2d")
  pen.font = "96px sans-serif"
  pen.fillText(text, 8, 100)
  return canvas.toDataURL()
}"""


class _Answers(BaseHTTPRequestHandler):
    """Serves the page to everyone, and records the requested language."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(f"{PAGE}<p>{self.headers['Accept-Language']}</p>".encode())

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        return


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """One for all tests: what a browser keeps, it keeps for an address."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Answers) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


async def test_korean_is_drawn_in_letters_and_not_in_boxes(page: Page, address: str) -> None:
    await page.goto(address)
    assert await page.title() == "검토"
    assert await page.inner_text("h1") == "변경을 승인합니다"
    drawn = [await page.evaluate(DRAWN, text) for text in ("승", "인", NO_LETTER)]
    if len(set(drawn)) == 1:
        missing("no font has Korean letters: fonts-nanum is not installed")
    assert len(set(drawn)) == 3


@pytest.mark.parametrize("locale", ["ko-KR", "en-US"])
async def test_a_page_is_asked_for_in_the_language_of_the_test(
    page: Page, address: str, locale: str
) -> None:
    await page.goto(address)
    assert (await page.inner_text("p")).startswith(locale)
    assert await page.evaluate("navigator.language") == locale


@pytest.mark.parametrize("turn", [1, 2])
async def test_what_a_test_leaves_in_the_browser_is_not_there_for_the_next(
    page: Page, address: str, turn: int
) -> None:
    await page.goto(address)
    assert await page.evaluate("[localStorage.left, document.cookie]") == [None, ""]
    await page.evaluate("[localStorage.left, document.cookie] = ['x', 'left=x']")
