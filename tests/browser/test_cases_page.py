"""Cases in a real browser: seen on a page of their own, kept on an item's, beside a held change."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from pydantic import JsonValue

from core.domain.models.access import Role
from tests.browser.test_accessibility import axe_found, axe_found_in_dialog
from tests.support.console import FACT, JEJU, Console, Data, Enter, item_page

if TYPE_CHECKING:
    from playwright.async_api import Page

pytestmark = pytest.mark.usefixtures("complaints")

BUSAN = "배송 지역이 부산이면 배송비는 4000원을 받는다"


async def add(console: Console, taught: Data, case: dict[str, JsonValue]) -> Data:
    """Add a case to what was taught, and return how it ended."""
    body = {"id": taught["target_id"], "tenant_id": taught["tenant_id"], "case": case}
    async with console.client() as http:
        made = await http.post("/v1/cases", json=body)
        assert made.is_success, made.text
        return dict(made.json())


async def test_cases_are_found_by_their_status_and_lead_to_their_item(
    console: Console, page: Page, enter: Enter
) -> None:
    tenant = await enter(page)
    taught = await console.teach(tenant, "desk", FACT)
    await add(console, taught, {"check": "unsaid", "text": "달러"})
    await add(console, taught, {"check": "unsaid", "text": "원화"})
    await page.goto(f"{console.base}/console/cases")
    await page.get_by_role("heading", name="검증 사례", level=1).wait_for()
    assert await page.locator(".chart").count() == 1
    assert await axe_found(page) == []
    await page.get_by_role("link", name="실패 1").click()
    listed = page.get_by_role("table", name="검증 사례")
    await listed.get_by_text("원화").first.wait_for()
    assert await listed.locator("tbody tr").count() == 1
    await listed.get_by_role("link", name=str(taught["target_name"])).click()
    await page.locator(".holder", has_text="실패").wait_for()
    await page.goto(f"{console.base}/console/knowledge")
    await page.get_by_role("table").get_by_text("실패 1").wait_for()
    await page.goto(f"{console.base}/console/knowledge?q=원화&tenant={tenant}")
    await page.get_by_role("table").get_by_text("실패 1").wait_for()
    assert await axe_found(page) == []


async def test_a_case_is_added_edited_and_disabled_on_the_page_of_its_item(
    console: Console, page: Page, enter: Enter
) -> None:
    taught = await console.teach(await enter(page), "desk", FACT)
    await page.goto(item_page(console, taught))
    await page.get_by_role("button", name="사례 추가").click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label("확인할 내용").click()
    await page.get_by_role("option", name="이 말은 담지 않는다").click()
    await dialog.get_by_label("문장").fill("달러")
    assert await axe_found_in_dialog(page) == []
    await dialog.get_by_role("button", name="저장하고 실행").click()
    mine = page.locator(".holder", has_text="reviewer 추가")
    await mine.get_by_text("통과").wait_for()
    await mine.get_by_role("button", name="수정").click()
    await dialog.get_by_label("문장").fill("원화")
    await dialog.get_by_role("button", name="저장하고 실행").click()
    await mine.get_by_text("실패").first.wait_for()
    await mine.get_by_role("button", name="사용 중지").click()
    await dialog.get_by_label("사유").fill("원화가 맞다")
    await dialog.get_by_role("button", name="사용 중지").click()
    await mine.get_by_text("원화가 맞다").wait_for()
    assert await mine.get_by_role("button").count() == 0
    await page.get_by_role("button", name="지금 실행").click()
    await page.get_by_text("실행 결과").wait_for()


async def test_a_reviewer_gives_up_a_case_that_a_held_change_breaks(
    console: Console, page: Page, enter: Enter
) -> None:
    tenant = await enter(page)
    taught = await console.teach(tenant, "desk", JEJU)
    await console.say(tenant, "desk", BUSAN)
    (held,) = [one for one in await console.changes(tenant) if one["status"] == "held"]
    assert held["target_id"] == taught["target_id"]
    column = await _first_column(console, taught)
    added = await add(console, taught, {"check": "decision", "inputs": {column: "부산"}})
    assert added["passed"] is True
    async with console.client() as http:
        assert (await http.post(f"/v1/changes/{held['id']}/refresh", json={})).is_success
    await page.goto(f"{console.base}/console/review?id={held['id']}")
    await page.get_by_role("heading", name="이 변경이 깨뜨리는 사례").wait_for()
    assert await axe_found(page) == []
    await page.get_by_role("button", name="승인하고 사례 폐기").click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label("사유").fill("이제 부산도 받는다")
    await dialog.get_by_role("button", name="승인하고 사례 폐기").click()
    await page.get_by_text("적용했습니다").wait_for()
    (change,) = [one for one in await console.changes(tenant) if one["id"] == held["id"]]
    assert (change["status"], change["decision"]) == ("applied", "이제 부산도 받는다")
    left = await console.get("/v1/cases", tenant_id=tenant)
    assert isinstance(left["items"], list)
    ids = [one["id"] for one in left["items"] if isinstance(one, dict)]
    assert isinstance(added["case"], dict)
    assert added["case"]["id"] not in ids


async def test_who_may_only_read_sees_cases_and_no_button(console: Console, page: Page) -> None:
    tenant = await console.tenant(("desk", "주문 담당"))
    taught = await console.teach(tenant, "desk", FACT)
    await add(console, taught, {"check": "unsaid", "text": "달러"})
    await console.enter(page, tenant, Role.READ)
    await page.goto(item_page(console, taught))
    await page.locator(".holder", has_text="통과").first.wait_for()
    assert await page.get_by_role("button", name="사례 추가").count() == 0
    assert await page.get_by_role("button", name="사용 중지").count() == 0


async def _first_column(console: Console, taught: Data) -> str:
    known = await console.get(
        "/v1/knowledge/item", id=str(taught["target_id"]), tenant_id=str(taught["tenant_id"])
    )
    table = known["table"]
    assert isinstance(table, dict)
    inputs = table["inputs"]
    assert isinstance(inputs, list)
    assert isinstance(inputs[0], dict)
    return str(inputs[0]["name"])
