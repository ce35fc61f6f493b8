"""The page Effect: its charts, its lists and a proposal that a person accepts."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from core.adapters.postgres.pool import open_pool
from core.adapters.postgres.uses import PostgresLookBack, PostgresUseLog
from core.domain.models import Kind
from core.domain.models.uses import UseCount, Way
from tests.browser.test_accessibility import axe_found
from tests.support.console import FACT, JEJU, Console, Data, Enter
from tests.support.databases import url_of
from tests.support.effect import LATER

if TYPE_CHECKING:
    from playwright.async_api import Page


async def use(console: Console, taught: Data) -> None:
    """Let an item reach its agent now and in three months, and see what is proposed then."""
    item, now = str(taught["target_id"]), datetime.now(UTC)
    counts = [
        UseCount(
            tenant_id=str(taught["tenant_id"]),
            agent_id=str(taught["agent_id"]),
            kind=Kind(str(taught["kind"])),
            item_id=item,
            version=1,
            digest="0" * 64,
            way=Way.RECALLED,
            day=at.date(),
            times=3,
            first_at=at,
            last_at=at,
        )
        for at in (now, now + LATER)
    ]
    async with open_pool(url_of(console.database)) as pool:
        await PostgresUseLog(pool).add(counts)
        await PostgresLookBack(pool).propose(now + LATER, unused_days=90, recurring=2)


async def test_a_proposal_is_accepted_on_the_page_of_effects(
    console: Console, page: Page, enter: Enter
) -> None:
    tenant = await enter(page)
    used = await console.teach(tenant, "desk", JEJU)
    unused = await console.teach(tenant, "desk", FACT)
    await use(console, used)
    await page.goto(f"{console.base}/console/effect")
    await page.get_by_role("heading", name="효과").wait_for()
    assert await page.locator(".chart").count() == 3
    assert await axe_found(page) == []
    await page.goto(f"{console.base}/console/effect?only=unreached")
    listed = page.get_by_role("table").get_by_role("link")
    await listed.first.wait_for()
    assert await listed.all_inner_texts() == [unused["target_name"]]
    await page.get_by_role("button", name="수락").click()
    await page.get_by_role("dialog").get_by_role("button", name="수락").click()
    await page.get_by_text("저절로 보관되는 것은 없습니다").wait_for()
    async with console.client() as http:
        known = await http.get("/v1/knowledge", params={"tenant_id": tenant})
    assert [one["id"] for one in known.json()["items"]] == [used["target_id"]]
    await page.goto(f"{console.base}/console/knowledge?tenant={tenant}")
    await page.get_by_role("link", name="보관됨").click()
    await page.locator(".badge", has_text="보관됨").wait_for()
    await page.locator("table a").first.click()
    await page.get_by_role("button", name="되돌리기").wait_for()
