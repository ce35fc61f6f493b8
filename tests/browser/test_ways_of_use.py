"""The console by keyboard, on a phone, in both languages, read-only, and disconnected."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from core.domain.models.access import Role
from core.entrypoints.auth import Grant
from tests.support.console import (
    FACT,
    JEJU,
    Console,
    Enter,
    facing_a_change,
    item_page,
    query_of,
    take_out,
)

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext, Page

pytestmark = pytest.mark.usefixtures("complaints")

ODD = (  # an address, and how it is answered
    ("/feedback?until=9999-12-31", 422, "처리하지 못했습니다"),
    (f"/knowledge/item?kind=MEMORY&id=x&version={'9' * 5000}", 422, "처리하지 못했습니다"),
    ("/nope/at?all", 404, "이 주소에는 페이지가 없습니다"),
    ("/review?id=%00", 404, "찾을 수 없습니다"),
    ("/feedback/run?id=%00", 404, "찾을 수 없습니다"),
    ("/knowledge/item?kind=MEMORY&id=%00", 404, "찾을 수 없습니다"),
    ("/deliveries/one?id=zzz", 404, "찾을 수 없습니다"),
    ("/knowledge?state=zzz", 422, "처리하지 못했습니다"),
)
NAVIGATION = re.compile(r"aria-label\W+페이지")
PAGES = ("/", "/feedback", "/review", "/changes", "/knowledge", "/graph")


async def _focused(page: Page) -> str:
    return str(await page.evaluate("document.activeElement.innerText.trim()"))


@pytest.mark.parametrize("locale", ["en-GB"])
async def test_language_and_theme_follow_the_browser_until_others_are_chosen(
    console: Console, page: Page, enter: Enter
) -> None:
    await page.emulate_media(color_scheme="dark")
    await enter(page)
    await page.goto(f"{console.base}/console/changes?status=held")
    await page.get_by_role("heading", name="All changes").wait_for()
    assert await page.locator("body.body--dark").count() == 1
    await page.get_by_role("link", name="한국어").click()
    await page.get_by_role("heading", name="전체 변경 목록").wait_for()
    assert query_of(page) == {"status": "held"}
    assert await page.locator("#content").get_attribute("lang") == "ko"
    await page.get_by_role("link", name="밝게").click()
    await page.locator("body.body--light").wait_for()
    assert not await page.get_by_role("link", name="밝게").is_visible()
    await page.emulate_media(color_scheme="light")
    await page.get_by_role("link", name="어둡게").click()
    await page.locator("body.body--dark").wait_for()
    await page.get_by_role("link", name="English").click()
    await page.get_by_role("heading", name="All changes").wait_for()


async def test_keys_alone_reach_everything_and_decide_nothing_while_one_types(
    console: Console, page: Page, enter: Enter
) -> None:
    tenant = await facing_a_change(console, page, enter)
    seen = []
    for _ in range(17):
        await page.keyboard.press("Tab")
        seen.append(await _focused(page))
    assert seen[:4] == ["본문으로 건너뛰기", "skill-worker", "현황", "피드백"]
    assert [name for name in seen if name in {"승인", "수정", "거절"}] == ["승인", "수정", "거절"]
    await page.get_by_role("link", name="본문으로 건너뛰기").focus()
    await page.keyboard.press("Enter")
    assert await page.evaluate("document.activeElement.id") == "content"
    await page.keyboard.press("?")
    keys = page.get_by_role("dialog", name="단축키")
    await keys.get_by_text("승인").wait_for()
    await page.keyboard.press("a")  # the help names the key, and does not act on it
    await page.keyboard.press("Escape")
    await keys.wait_for(state="hidden")
    await page.keyboard.type("raaa")  # at once, before the field is there
    reason = page.get_by_role("dialog").locator("textarea")
    await reason.focus()
    await page.keyboard.type("a r e")
    assert await reason.input_value() == "a r e"
    (change,) = await console.changes(tenant)
    assert change["status"] == "held"
    await page.keyboard.press("Control+Enter")
    await page.get_by_text("거절했습니다").wait_for()
    await page.locator("h1:focus").wait_for()
    (change,) = await console.changes(tenant)
    assert (change["status"], change["decision"]) == ("rejected", "a r e")


@pytest.mark.nightly
async def test_back_returns_to_the_change_that_was_looked_at_last(
    console: Console, page: Page, enter: Enter
) -> None:
    tenant = await enter(page)
    await console.say(tenant, "desk", FACT)
    await console.say(tenant, "desk", JEJU)
    await page.goto(f"{console.base}/console/review")
    await page.get_by_text("2건 중 1번째").wait_for()
    first = await page.inner_text("h1")
    await page.get_by_role("button", name="다음").click()
    await page.get_by_text("2건 중 2번째").wait_for()
    second = await page.inner_text("h1")
    assert first != second
    await page.wait_for_url("**id=*")
    await page.get_by_role("link", name="전체 변경 목록").click()
    await page.get_by_role("heading", name="전체 변경 목록").wait_for()
    await page.go_back()
    await page.get_by_role("heading", name=second, exact=True).wait_for()


@pytest.mark.nightly
async def test_no_page_is_wider_than_a_phone_whatever_was_written(
    console: Console, page: Page
) -> None:
    unbroken, address = "가" * 300, f"https://example.com/{'a' * 400}"
    tenant = await console.tenant(("desk", "주문과환불과정산을담당하는에이전트" * 5))
    await page.set_viewport_size({"width": 390, "height": 844})
    await console.enter(page, tenant, name="이름이아주아주긴검토자" * 5)
    fact = await console.teach(tenant, "desk", f"고객에게는 {unbroken} {address} 라고 적는다")
    rule = await console.teach(tenant, "desk", f"배송 지역이 제주이면 {unbroken}을 받는다")
    await console.say(tenant, "desk", f"배송 지역이 부산이면 {address} 을 받는다", author="B" * 200)
    held = [c for c in await console.changes(tenant) if c["status"] == "held"]
    places = [
        *(f"{console.base}/console{path}" for path in PAGES),
        *(item_page(console, learnt) for learnt in (fact, rule)),
        *(f"{console.base}/console/feedback/run?id={c['feedback_id']}" for c in (fact, *held)),
    ]
    wide = []
    for place in places:
        await page.goto(place)
        await page.locator("#content h1").wait_for()
        for summary in await page.locator("#content summary").all():
            await summary.click()
        width = await page.evaluate("document.documentElement.scrollWidth")
        if width > 390:
            wide.append((place, width))
    assert wide == []


async def test_who_may_only_read_is_offered_no_decision_and_can_force_none(
    console: Console, page: Page, context: BrowserContext, complaints: list[str]
) -> None:
    tenant = await console.tenant(("desk", "주문 담당"))
    change = await console.teach(tenant, "desk", FACT)
    await console.say(tenant, "desk", JEJU)
    held = next(c for c in await console.changes(tenant) if c["status"] == "held")
    await console.enter(page, tenant, Role.READ)
    run = f"{console.base}/console/feedback/run?id={change['feedback_id']}"
    for place in (
        f"{console.base}/console/review?id={held['id']}",
        run,
        item_page(console, change),
    ):
        await page.goto(place)
        await page.locator("#content h1").first.wait_for()
        offered = [await b.inner_text() for b in await page.locator("#content button").all()]
        words = " ".join(offered)
        assert not any(word in words for word in ("승인", "거절", "수정", "철회", "복원", "시도"))
    await page.goto(f"{console.base}/console/review?id={held['id']}")
    await page.get_by_text("볼 수만 있고 결정할 수는 없습니다").wait_for()
    await page.keyboard.press("a")
    await page.keyboard.press("?")
    await page.get_by_role("dialog").wait_for()
    answer = await context.request.post(
        f"{console.base}/v1/changes/{held['id']}/approve",
        data={"seen": held["content_hash"]},
        headers={"Origin": console.base},
    )
    assert answer.status == 403
    assert [c["status"] for c in await console.changes(tenant) if c["id"] == held["id"]] == ["held"]


async def test_a_token_revoked_with_its_page_open_decides_nothing(
    console: Console, page: Page, complaints: list[str]
) -> None:
    tenant = await console.tenant(("desk", "주문 담당"))
    await console.say(tenant, "desk", FACT)
    made = await console.access.add(
        Grant(name=f"gone-{tenant}", tenant_id=tenant), timedelta(days=1)
    )
    await page.goto(f"{console.base}/console/enter")
    await page.get_by_label("토큰").fill(made.secret.get_secret_value())
    await page.keyboard.press("Enter")
    await page.get_by_role("heading", name="현황").wait_for()
    await page.goto(f"{console.base}/console/review")
    await page.get_by_role("button", name="승인").wait_for()
    await console.access.revoke(f"gone-{tenant}")
    await page.keyboard.press("a")
    await page.get_by_role("heading", name="콘솔에 로그인").wait_for()
    (change,) = await console.changes(tenant)
    assert change["status"] == "held"
    take_out(complaints, 401, 403)
    # What the page still wanted to send when its connection was ended, if anything.
    complaints[:] = [text for text in complaints if "CLOSING or CLOSED" not in text]


async def test_whatever_the_address_says_the_answer_is_told_in_the_frame(
    console: Console, page: Page, enter: Enter, complaints: list[str]
) -> None:
    await enter(page)
    for path, status, said in ODD:
        found, shown = await console.shown(page, path)
        assert (found, said in shown) == (status, True), path
        assert NAVIGATION.search(shown), path
        assert "Error" not in shown, path
    await page.goto(f"{console.base}/console{ODD[0][0]}")
    await page.get_by_role("heading", name=ODD[0][2]).wait_for()
    assert await page.get_by_role("navigation", name="페이지").is_visible()
    take_out(complaints, ODD[0][1])
    assert "Error" not in await page.locator("body").inner_text()
