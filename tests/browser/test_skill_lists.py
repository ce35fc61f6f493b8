"""Whose list a skill is on, seen and changed in a real browser."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from pydantic import JsonValue

from core.domain.models.access import Role
from tests.support.console import Console, Data, item_page

if TYPE_CHECKING:
    from playwright.async_api import Page

pytestmark = pytest.mark.usefixtures("complaints")

PROCEDURE = "부분 환불을 정산하는 절차: 1. 주문을 찾는다 2. 환불 금액을 계산한다 3. 장부에 적는다"


async def shared_skill(console: Console, page: Page) -> Data:
    """Sign a reviewer in, where two agents have a skill; return the change that made it."""
    tenant = await console.tenant(("desk", "주문 담당"), ("shop", "매장 담당"))
    made = await console.teach(tenant, "desk", PROCEDURE)
    async with console.client() as http:
        path = f"/v1/agents/{tenant}-shop/skills/{made['target_id']}"
        assert (await http.put(path)).is_success
    await console.enter(page, tenant)
    return made


async def listed(console: Console, agent_id: str) -> list[JsonValue]:
    items = (await console.get(f"/v1/agents/{agent_id}/skills"))["items"]
    assert isinstance(items, list)
    return [item["name"] for item in items if isinstance(item, dict)]


async def test_a_skill_is_taken_off_one_list_and_that_is_taken_back(
    console: Console, page: Page
) -> None:
    made = await shared_skill(console, page)
    name, shop = str(made["target_id"]), f"{made['tenant_id']}-shop"
    await page.goto(item_page(console, made))
    holder = page.locator(".holder", has_text="매장 담당")
    await holder.get_by_role("button", name="목록에서 빼기").click()
    dialog = page.get_by_role("dialog", name=f"매장 담당 ({shop})의 목록에서 {name} 스킬을 뺄까요?")
    await dialog.get_by_text("스킬 자체와 다른 에이전트의 목록은 그대로 남습니다.").wait_for()
    await dialog.get_by_role("button", name="목록에서 빼기").click()
    await page.get_by_text("의 목록에서 뺐습니다").wait_for()
    taken_back = page.get_by_role("link", name="이 변경 보기 · 되돌리기")
    await taken_back.wait_for()
    assert await page.locator(".holder", has_text="주문 담당").count() == 1
    assert await holder.count() == 0
    assert await listed(console, shop) == []
    await taken_back.click()
    await page.get_by_role("button", name="되돌리기").click()
    await page.get_by_label("사유").fill("매장에서도 씁니다")
    await page.get_by_role("dialog").get_by_role("button", name="되돌리기").click()
    await page.get_by_text("되돌렸습니다").wait_for()
    assert await listed(console, shop) == [name]


@pytest.mark.nightly
async def test_an_agents_list_is_set_where_its_knowledge_is_shown(
    console: Console, page: Page
) -> None:
    made = await shared_skill(console, page)
    name, shop = str(made["target_id"]), f"{made['tenant_id']}-shop"
    await page.goto(f"{console.base}/console/knowledge?agent={shop}")
    skills = page.locator(".skill-list")
    await skills.get_by_role("link", name=name).wait_for()
    await skills.get_by_role("button", name="목록 편집").click()
    dialog = page.get_by_role("dialog")
    await dialog.locator(".q-chip__icon--remove").click()
    await dialog.get_by_role("button", name="목록 저장").click()
    await page.get_by_text("목록을 저장했습니다").wait_for()
    await skills.get_by_text("없음").wait_for()
    assert await listed(console, shop) == []


async def test_a_skill_is_asked_to_be_deleted_for_all_and_waits(
    console: Console, page: Page
) -> None:
    made = await shared_skill(console, page)
    name, shop = str(made["target_id"]), f"{made['tenant_id']}-shop"
    await page.goto(item_page(console, made))
    await page.get_by_role("button", name="모두에게서 삭제").click()
    title = f"{name} 스킬을 모든 에이전트에게서 삭제할까요?"
    dialog = page.get_by_role("dialog", name=title)
    await dialog.get_by_text(f"매장 담당 ({shop})").wait_for()
    await dialog.get_by_role("button", name="삭제 요청").click()
    await page.get_by_role("link", name="이 변경 보기").click()
    await page.get_by_text("모두에게서 삭제됩니다").first.wait_for()
    assert await listed(console, shop) == [name]


async def test_who_may_only_read_sees_the_lists_and_no_button(console: Console, page: Page) -> None:
    made = await shared_skill(console, page)
    await page.context.clear_cookies()
    await console.enter(page, str(made["tenant_id"]), Role.READ)
    await page.goto(item_page(console, made))
    await page.locator(".holder", has_text="매장 담당").wait_for()
    assert await page.get_by_role("button", name="목록에서 빼기").count() == 0
    assert await page.get_by_role("button", name="모두에게서 삭제").count() == 0
