"""A page continues for the session that opened it and for no other, in the same browser too."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.domain.models.access import Role

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext, Page

    from tests.support.console import Console

WHO = 'who => document.querySelector(".who")?.textContent === who && window.did_handshake'
# As after a lost connection: the page reconnects with the current cookies.
COME_AGAIN = "window.socket.io.engine.close()"


async def test_who_signs_in_next_takes_over_no_page_of_who_was_there_before(
    page: Page, context: BrowserContext, console: Console
) -> None:
    before, after = await console.tenant(("a", "A")), await console.tenant(("b", "B"))
    await page.goto(await console.link(before))
    await page.goto(f"{console.base}/console/feedback")
    await page.wait_for_function(WHO, arg=before)
    other = await context.new_page()
    await other.goto(await console.link(after, Role.READ))
    await page.evaluate(COME_AGAIN)
    await page.wait_for_function(WHO, arg=after)


async def test_a_page_goes_on_after_its_connection_was_lost(page: Page, console: Console) -> None:
    tenant = await console.tenant(("a", "A"))
    await page.goto(await console.link(tenant))
    await page.wait_for_function(WHO, arg=tenant)
    await page.evaluate("window.is_the_same = true")
    await page.evaluate(COME_AGAIN)
    await page.wait_for_function("!window.socket.connected || window.socket.io.engine.id")
    await page.wait_for_function("window.socket.connected && window.is_the_same")
