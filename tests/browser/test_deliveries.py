"""What went out to hooks, seen in a real browser, and sent again by those who operate."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import psycopg
import pytest

from core.domain.models.access import Role
from tests.browser.test_accessibility import axe_found
from tests.support.console import Console, Enter

if TYPE_CHECKING:
    from playwright.async_api import Page

pytestmark = pytest.mark.usefixtures("complaints")

_ADD = """
INSERT INTO deliveries (id, tenant_id, target, event, subject, status, attempts, ended_at, error,
                        payload)
VALUES (%(id)s, %(tenant)s, %(target)s, 'change.held', 'f', %(status)s, 1, now(), %(error)s,
        %(payload)s)
"""
_TRY = """
INSERT INTO delivery_attempts (delivery_id, ordinal, tenant_id, at, status, seconds, error)
VALUES (%(id)s, 1, %(tenant)s, now(), '503', 0.25, %(error)s)
"""


def sent(console: Console, tenant: str, target: str, status: str, error: str | None = None) -> str:
    """Store a delivery that has ended after one attempt, as a worker leaves it; return its id."""
    payload = json.dumps({"name": "change.held", "data": {"target_name": "환불 \u202e기준"}})
    row = {"id": f"dlv_{tenant}{target}", "tenant": tenant, "target": target, "status": status}
    with psycopg.connect(console.database) as conn:
        for statement in (_ADD, _TRY):
            conn.execute(statement, {**row, "error": error, "payload": payload})
    return row["id"]


async def test_a_delivery_given_up_is_found_and_sent_again(
    console: Console, page: Page, enter: Enter
) -> None:
    tenant = await enter(page)
    dead = sent(console, tenant, "crm", "dead", "the receiver answered 503")
    sent(console, tenant, "chat", "delivered")
    sent(console, await console.tenant(), "theirs", "dead")
    await page.goto(f"{console.base}/console/")
    await page.get_by_role("link", name="전달").click()
    rows = page.locator("table.list tbody tr")
    await rows.nth(1).wait_for()
    assert await rows.count() == 2
    assert await axe_found(page) == []
    await page.get_by_role("link", name="재시도 횟수 초과").click()
    await page.wait_for_url("**status=dead*")
    await rows.get_by_role("link", name="change.held").click()
    await page.get_by_role("heading", name="change.held → crm").wait_for()
    await page.get_by_role("cell", name="503", exact=True).wait_for()
    await page.get_by_text("이벤트에서 보내는 내용").click()
    assert "U+202E" in await page.locator("details").inner_text()
    assert await axe_found(page) == []
    await page.get_by_role("button", name="다시 보내기").click()
    await page.get_by_role("dialog").get_by_role("button", name="다시 보내기").click()
    await page.locator(".facts-grid").get_by_text("전달 대기").wait_for()
    told = await console.get(f"/v1/deliveries/{dead}")
    assert isinstance(told["delivery"], dict)
    assert told["delivery"]["status"] == "waiting"


async def test_who_may_only_read_sees_deliveries_and_no_button(
    console: Console, page: Page
) -> None:
    tenant = await console.tenant()
    dead = sent(console, tenant, "crm", "dead", "refused")
    await console.enter(page, tenant, Role.READ)
    await page.goto(f"{console.base}/console/deliveries/one?id={dead}")
    await page.get_by_role("heading", name="change.held → crm").wait_for()
    assert await page.get_by_role("button", name="다시 보내기").count() == 0
