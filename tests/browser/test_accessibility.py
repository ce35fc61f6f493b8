"""Every page as a screen reader meets it: its language, its title, and what axe-core finds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from axe_playwright_python.async_playwright import Axe

from tests.support.console import FACT, Console, Enter, item_page

if TYPE_CHECKING:
    from playwright.async_api import Page

SERIOUS = {"serious", "critical"}
PHONE = {"width": 390, "height": 844}
IN_DIALOG = {"include": ["[role=dialog]"], "exclude": [".q-dialog .q-btn__content"]}
AT_REST = "document.getAnimations().every(one => one.playState !== 'running')"


async def axe_found(page: Page, within: Mapping[str, list[str]] | None = None) -> list[str]:
    """Return what axe-core calls serious on a page at rest, and where; `within` is what it sees."""
    await page.wait_for_function(AT_REST)
    in_full = {"resultTypes": ["violations"]}
    results = await Axe().run(page, context=dict(within) if within else None, options=in_full)
    assert results.response["passes"]
    return [
        f"{page.url}: {one['id']} {[node['target'] for node in one['nodes']][:3]}"
        for one in results.response["violations"]
        if one["impact"] in SERIOUS
    ]


async def axe_found_in_dialog(page: Page) -> list[str]:
    """Return what axe-core calls serious in an open dialog.

    Of the words on its buttons axe-core takes the backdrop for the background; buttons of the same
    colours are looked at on pages.
    """
    return await axe_found(page, IN_DIALOG)


async def test_no_page_keeps_anybody_out(console: Console, page: Page, enter: Enter) -> None:
    """The pages that no other test looks at, lists among them."""
    tenant = await enter(page)
    taught = await console.teach(tenant, "desk", "배송 지역이 제주이면 배송비는 3000원을 받는다")
    feedback = await console.say(tenant, "desk", FACT)
    (held,) = [one for one in await console.changes(tenant) if one["status"] == "held"]
    pages = {
        "/": "현황",
        "/feedback": "피드백",
        f"/feedback/run?id={feedback}": FACT[:20],
        "/changes?status=held": "검토 대기",
        f"/review?id={held['id']}": str(held["target_name"]),
        item_page(console, taught).partition("/console")[2]: str(taught["target_name"]),
        f"/graph?tenant={tenant}": "그래프",
    }
    assert await _kept_out(console, page, pages) == []


async def _kept_out(console: Console, page: Page, pages: Mapping[str, str]) -> list[str]:
    """Return what keeps anybody out of pages, each of which has a title."""
    found: list[str] = []
    for path, title in pages.items():
        await page.goto(f"{console.base}/console{path}")
        await page.locator("#content h1, #content h2").first.wait_for()
        assert title in await page.title()
        assert await page.locator("html").get_attribute("lang") == "ko-KR"
        found += await axe_found(page)
    return found


async def test_on_a_phone_what_was_said_comes_before_what_changes(
    console: Console, page: Page, enter: Enter
) -> None:
    tenant = await enter(page)
    await console.say(tenant, "desk", FACT)
    await page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    await page.goto(f"{console.base}/console/review")
    await page.get_by_role("button", name="승인").wait_for()
    said, what = page.locator(".heard"), page.locator(".what")
    boxes = [await one.bounding_box() for one in (said, what)]
    assert boxes[0] is not None
    assert boxes[1] is not None
    assert boxes[0]["y"] < boxes[1]["y"]
    assert await axe_found(page) == []


async def test_a_deep_link_survives_signing_in(console: Console, page: Page, enter: Enter) -> None:
    tenant = await enter(page)
    await console.say(tenant, "desk", FACT)
    (held,) = await console.changes(tenant)
    await page.context.clear_cookies()
    await page.goto(f"{console.base}/console/review?id={held['id']}")
    await page.locator("#token").fill(console.token)
    assert await axe_found(page) == []
    await page.keyboard.press("Enter")
    await page.get_by_role("heading", name=str(held["target_name"])).wait_for()
