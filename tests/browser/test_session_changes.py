"""A page continues for the session that opened it and for no other, in the same browser too."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.domain.models.access import Role
from tests.support.console import facing_a_change

if TYPE_CHECKING:
    from playwright.async_api import Browser, BrowserContext, Page

    from tests.support.console import Console, Enter

WHO = 'who => document.querySelector(".who")?.textContent === who && window.did_handshake'
# As after a lost connection: the page reconnects with the current cookies.
COME_AGAIN = "window.socket.io.engine.close()"


async def test_who_signs_in_next_takes_over_no_page_of_who_was_there_before(
    page: Page, context: BrowserContext, console: Console
) -> None:
    before, after = await console.tenant(("a", "A")), await console.tenant(("b", "B"))
    await console.enter(page, before)
    await page.goto(f"{console.base}/console/feedback")
    await page.wait_for_function(WHO, arg=before)
    other = await context.new_page()
    await console.enter(other, after, Role.READ)
    await page.evaluate(COME_AGAIN)
    await page.wait_for_function(WHO, arg=after)


async def test_a_page_goes_on_after_its_connection_was_lost(page: Page, console: Console) -> None:
    tenant = await console.tenant(("a", "A"))
    await console.enter_by_link(page, tenant)
    await page.wait_for_function(WHO, arg=tenant)
    await page.evaluate("window.is_the_same = true")
    await page.evaluate(COME_AGAIN)
    await page.wait_for_function("!window.socket.connected || window.socket.io.engine.id")
    await page.wait_for_function("window.socket.connected && window.is_the_same")


RECORDED = """() => {
  window.sent = []
  const emit = window.socket.emit.bind(window.socket)
  window.socket.emit = (...parts) => { window.sent.push(parts); return emit(...parts) }
}"""
SENT_AGAIN = "sent => sent.forEach(parts => window.socket.emit(...parts))"


async def test_an_event_counts_from_the_session_of_its_page_alone(
    browser: Browser, page: Page, console: Console, enter: Enter
) -> None:
    await facing_a_change(console, page, enter)
    help_ = page.get_by_role("dialog")
    await page.evaluate(RECORDED)
    await page.keyboard.press("?")
    await help_.wait_for()
    sent = await page.evaluate("window.sent.filter(([name]) => name === 'event')")
    assert sent
    await page.keyboard.press("Escape")
    await help_.wait_for(state="hidden")
    elsewhere = await browser.new_context(locale="ko-KR")
    other = await elsewhere.new_page()
    await facing_a_change(console, other, enter)
    await other.evaluate(SENT_AGAIN, sent)
    await other.keyboard.press("?")  # is handled after what was sent before
    await other.get_by_role("dialog").wait_for()
    assert not await help_.is_visible()
    await page.evaluate(SENT_AGAIN, sent)
    await help_.wait_for()
    await elsewhere.close()


async def test_a_session_ended_from_outside_loses_its_open_pages(
    page: Page, console: Console
) -> None:
    tenant = await console.tenant(("a", "A"))
    await console.enter_by_link(page, tenant, name=tenant)
    await page.wait_for_function(WHO, arg=tenant)
    assert [one.name for one in await console.access.end(tenant)] == [tenant]
    await page.wait_for_url("**/console/enter")


async def test_markup_that_got_into_a_page_runs_nothing_and_no_site_frames_it(
    page: Page, console: Console
) -> None:
    tenant = await console.tenant(("a", "A"))
    await console.enter_by_link(page, tenant)
    await page.wait_for_function(WHO, arg=tenant)
    await page.evaluate(
        """() => {
          const script = document.createElement("script")
          script.textContent = "window.pwned = 1"
          const image = document.createElement("div")
          image.innerHTML = "<img src=x onerror='window.pwned = 2'>"
          const frame = document.createElement("iframe")
          frame.src = location.href
          document.body.append(script, image, frame)
        }"""
    )
    await page.wait_for_function("document.querySelector('iframe').contentDocument === null")
    assert await page.evaluate("window.pwned ?? null") is None
