"""Every page as a screen reader meets it: its language, its title, and what axe-core finds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import pytest
from axe_playwright_python.async_playwright import Axe

from tests.support.console import FACT, Console, Enter, item_page

if TYPE_CHECKING:
    from playwright.async_api import Page

SERIOUS = {"serious", "critical"}
PHONE = {"width": 390, "height": 844}


async def axe_found(page: Page) -> list[str]:
    """Return what axe-core calls serious, and where."""
    results = await Axe().run(page, options={"resultTypes": ["violations"]})  # in full, that is
    assert results.response["passes"]
    return [
        f"{page.url}: {one['id']} {[node['target'] for node in one['nodes']][:3]}"
        for one in results.response["violations"]
        if one["impact"] in SERIOUS
    ]


async def test_no_page_keeps_anybody_out(console: Console, page: Page, enter: Enter) -> None:
    """The pages with parts of their own; lists are looked at where deliveries are."""
    tenant = await enter(page)
    taught = await console.teach(tenant, "desk", "배송 지역이 제주이면 배송비는 3000원을 받는다")
    feedback = await console.say(tenant, "desk", FACT)
    (held,) = [one for one in await console.changes(tenant) if one["status"] == "held"]
    pages = {
        "/": "현황",
        f"/feedback/run?id={feedback}": FACT[:20],
        f"/review?id={held['id']}": str(held["target_name"]),
        item_page(console, taught).partition("/console")[2]: str(taught["target_name"]),
    }
    assert await _kept_out(console, page, pages) == []


@pytest.mark.nightly
async def test_no_list_keeps_anybody_out(console: Console, page: Page, enter: Enter) -> None:
    tenant = await enter(page)
    await console.teach(tenant, "desk", "배송 지역이 제주이면 배송비는 3000원을 받는다")
    await console.say(tenant, "desk", FACT)
    pages = {
        "/feedback": "피드백",
        "/changes?status=held": "검토 대기",
        "/knowledge": "지식",
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
