"""Each page of the console does its main job in a real browser."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import pytest
from psycopg import AsyncConnection

from tests.support.console import FACT, JEJU, Console, Enter, item_page, query_of
from tests.support.databases import url_of

if TYPE_CHECKING:
    from playwright.async_api import Page

pytestmark = pytest.mark.usefixtures("complaints")

TWIN = re.compile(r'href=\\"(/v1/[^"\\]+)\\"[^>]*>JSON으로 보기<')
BUSAN = "배송 지역이 부산이면 배송비는 1000원을 받는다"


async def test_a_tenant_without_feedback_is_told_so_with_a_hint_on_every_page(
    console: Console, page: Page
) -> None:
    await console.enter(page, await console.tenant())
    said = {
        "/": "아직 피드백이 없습니다",
        "/feedback": "아직 피드백이 없습니다",
        "/review": "검토를 기다리는 변경이 없습니다",
        "/changes": "조건에 맞는 변경이 없습니다",
        "/knowledge": "아직 배운 것이 없습니다",
        "/graph": "아직 그릴 것이 없습니다",
    }
    for path, text in said.items():
        assert text in (await console.shown(page, path))[1], path


async def test_the_overview_says_how_it_goes_and_goes_on_saying_it(
    console: Console, page: Page
) -> None:
    tenant = await console.tenant(("desk", "주문 담당"))
    await console.enter_by_link(page, tenant)
    await page.locator(".empty").wait_for()
    await console.say(tenant, "desk", FACT)
    waiting = page.locator(".cards .card", has_text="검토 대기").locator(".figure", has_text="1")
    await waiting.wait_for()
    assert not await page.locator(".empty").is_visible()
    word = page.get_by_role("status").locator(".word")
    assert await word.inner_text() in {"유휴", "처리 중"}
    assert await page.locator(".chart canvas").count() == 3
    worker = page.get_by_role("table", name="워커").locator("tbody tr").first
    assert await worker.locator(".badge").inner_text() == "정상"
    sign = await worker.locator("td[data-label='마지막 신호']").inner_text()
    assert "초 전" in sign or sign == "방금"
    await page.locator(".cards").get_by_role("link", name="검토 대기").click()
    await page.get_by_role("heading", name=FACT).wait_for()


async def test_filters_of_feedback_live_in_the_address(
    console: Console, page: Page, enter: Enter
) -> None:
    tenant = await enter(page)
    await console.say(tenant, "desk", FACT)
    await console.say(tenant, "desk", JEJU)
    await page.goto(f"{console.base}/console/feedback")
    rows = page.get_by_role("table", name="피드백").locator("tbody tr")
    assert await rows.count() == 2
    field = page.get_by_label("내용 또는 ID 검색")
    await field.fill("배송")
    await field.press("Enter")
    await page.wait_for_url("**text=*")
    await page.get_by_role("link", name="검토 대기", exact=True).click()
    await page.wait_for_url("**status=held*")
    await page.reload()
    assert query_of(page) == {"text": "배송", "status": "held"}
    assert await field.input_value() == "배송"
    assert await rows.count() == 1
    assert JEJU in await rows.inner_text()
    await page.get_by_role("link", name="실패", exact=True).click()
    await page.get_by_text("조건에 맞는 피드백이 없습니다").wait_for()
    await page.get_by_role("link", name="전체 피드백 보기").click()
    await rows.nth(1).wait_for()


async def test_work_is_paused_and_feedback_is_cancelled_and_retried(
    console: Console, page: Page
) -> None:
    tenant = await console.tenant(("desk", "주문 담당"))
    await console.enter(page, None)
    await page.goto(f"{console.base}/console/feedback")
    try:
        await page.get_by_role("button", name="일시 중지").click()
        dialog = page.get_by_role("dialog")
        await dialog.locator("textarea").fill("데이터베이스 점검")
        await dialog.get_by_role("button", name="일시 중지").click()
        await page.get_by_text("작업이 일시 중지되었습니다: 데이터베이스 점검").wait_for()
        await console.logged("work.held")
        await page.goto(f"{console.base}/console/?tenant={tenant}")
        word = page.get_by_role("status").locator(".word .badge.warn", has_text="일시 중지")
        await word.wait_for()
        piece = await console.submit(tenant, "desk", FACT)
        await page.goto(f"{console.base}/console/feedback/run?id={piece}")
        await page.get_by_role("button", name="처리 취소").click()
        await dialog.locator("textarea").fill("잘못 입력했습니다")
        await dialog.get_by_role("button", name="처리 취소").click()
        await page.locator(".facts-grid .badge", has_text="취소됨").wait_for()
        await page.goto(f"{console.base}/console/feedback?tenant={tenant}")
        await page.get_by_role("button", name="재개").click()
        await page.get_by_role("button", name="일시 중지").wait_for()
    finally:
        async with console.client() as http:
            assert (await http.post("/v1/intake/resume")).is_success
    await page.get_by_role("link", name=FACT).first.click()
    await page.get_by_role("button", name="다시 시도").click()
    await page.locator(".facts-grid .badge", has_text="검토 대기").wait_for()


async def test_a_run_is_read_step_by_step_and_what_it_taught_is_taken_back(
    console: Console, page: Page, enter: Enter
) -> None:
    tenant = await enter(page)
    change = await console.teach(tenant, "desk", FACT)
    await page.goto(f"{console.base}/console/feedback/run?id={change['feedback_id']}")
    steps = page.locator("ol.steps li")
    await steps.first.wait_for()
    names = [await badge.inner_text() for badge in await steps.locator(".badge").all()]
    assert names[0] == "워커가 처리를 시작"
    assert {"에이전트와 연결", "모델 응답", "검토 대기로 전환", "변경 적용"} <= {*names}
    assert not await page.locator(".said").first.is_visible()
    await page.locator("ol.steps summary").first.click()
    assert FACT in await page.locator(".said").first.inner_text()
    change_link = page.get_by_role("table", name="변경").get_by_role("link", name=FACT)
    assert f"id={change['id']}" in str(await change_link.get_attribute("href"))
    await page.get_by_role("button", name="배운 내용 철회").click()
    dialog = page.get_by_role("dialog", name="이 피드백으로 배운 내용을 철회할까요?")
    await dialog.get_by_text(FACT).wait_for()
    await dialog.get_by_role("button", name="배운 내용 철회").click()
    await page.get_by_text("철회했습니다", exact=True).wait_for()
    await page.get_by_role("table", name="변경").get_by_text("되돌림").wait_for()
    assert await page.locator(".said").first.is_visible()  # what the reader expanded stays expanded
    await page.goto(item_page(console, change))
    await page.get_by_text("삭제된 항목입니다").wait_for()
    await page.goto(f"{console.base}/console/review?id={change['id']}")
    decided = page.locator(".what .banner").first  # who approved it did not revert it
    assert (await decided.inner_text()).startswith("승인: ")


async def test_what_is_known_is_searched_traced_and_brought_back(
    console: Console, page: Page, enter: Enter
) -> None:
    tenant = await enter(page)
    await console.teach(tenant, "desk", FACT)
    table = await console.teach(tenant, "desk", JEJU)
    await console.teach(tenant, "desk", BUSAN)
    await page.goto(f"{console.base}/console/knowledge")
    await page.get_by_role("link", name=FACT, exact=True).first.wait_for()
    field = page.get_by_label("지식 검색")
    await field.fill("배송비 지역")
    await field.press("Enter")
    await page.wait_for_url("**q=*")
    hits = page.get_by_role("table", name="지식 검색").locator("tbody tr")
    await hits.first.get_by_role("link", name=str(table["target_name"])).click()
    rows = page.locator(".grid tbody tr")
    await rows.first.wait_for()
    assert [JEJU in await rows.nth(0).inner_text(), BUSAN in await rows.nth(1).inner_text()] == [
        True,
        True,
    ]
    assert [await rows.nth(at).locator(".badge").inner_text() for at in (0, 1)] == ["v1", "v2"]
    versions = page.get_by_role("table", name="버전").locator("tbody tr")
    assert await versions.count() == 2
    await page.get_by_role("button", name="복원").click()
    dialog = page.get_by_role("dialog", name="버전 1: 이 버전으로 되돌릴까요?")
    await dialog.get_by_role("button", name="복원").click()
    await versions.nth(2).wait_for()
    assert await rows.count() == 1
    assert JEJU in await rows.inner_text()
    await versions.nth(1).get_by_role("link", name="2", exact=True).click()
    await page.get_by_text("이전 버전을 보고 있습니다").wait_for()
    assert "부산" in await page.locator(".code").inner_text()
    await page.get_by_role("button", name="복원").click()
    await page.get_by_role("dialog").get_by_role("button", name="복원").click()
    await versions.nth(3).wait_for()  # the current state is shown
    assert await page.locator(".grid tbody tr").count() == 2
    assert "version" not in query_of(page)


async def test_lines_of_a_memory_stand_beside_the_words_that_taught_them(
    console: Console, page: Page, enter: Enter
) -> None:
    tenant = await enter(page)
    change = await console.teach(tenant, "desk", FACT)
    await page.goto(item_page(console, change))
    line = page.locator(".blame tr")
    assert await line.locator(".line").inner_text() == FACT
    assert await line.locator("td.from a").inner_text() == FACT
    assert "reviewer" not in await line.inner_text()
    assert "first 승인" in await line.inner_text()
    await line.locator("td.from a").click()
    await page.get_by_role("heading", name="처리 과정").wait_for()


async def test_the_graph_is_drawn_and_can_be_read_as_a_list(
    console: Console, page: Page, enter: Enter
) -> None:
    tenant = await enter(page)
    await console.teach(tenant, "desk", FACT)
    await page.goto(f"{console.base}/console/graph")
    await page.locator(".graph canvas").first.wait_for()
    await page.get_by_text("목록으로 보기").click()
    rows = page.get_by_role("table", name="그래프").locator("tbody tr")
    texts = [await row.inner_text() for row in await rows.all()]
    assert any("주문 담당" in text and "메모리 1" in text for text in texts)
    await rows.get_by_role("link", name="메모리 1").first.click()
    await page.get_by_role("link", name=FACT, exact=True).first.wait_for()
    await page.go_back()
    await page.get_by_role("link", name="주문 담당").first.click()
    await page.locator(".chip.here", has_text="주문 담당").wait_for()


async def test_every_page_links_what_it_shows_as_json(
    console: Console, page: Page, enter: Enter
) -> None:
    tenant = await enter(page)
    paths = ("/review", "/changes", "/knowledge", "/feedback", "/graph", "/")
    await _see_twins(console, page, paths)  # while there is nothing
    change = await console.teach(tenant, "desk", FACT)
    await console.say(tenant, "desk", JEJU)
    held = f"/review?id={change['id']}"
    await _see_twins(console, page, (*paths, held, "/changes?status=held", "/knowledge?q=배송"))
    days = "since=2026-01-01&until=2026-12-31"
    await _see_twins(console, page, (f"/feedback?status=held&text=배송&{days}",))


async def _see_twins(console: Console, page: Page, paths: Sequence[str]) -> None:
    """Follow the link of each page, which is there before any script has run."""
    for path in paths:
        status, shown = await console.shown(page, path)
        assert status == 200, path
        twin = TWIN.search(shown)
        assert twin, path
        answer = await page.request.get(f"{console.base}{twin[1]}")
        assert answer.status == 200, (path, twin)
        assert answer.headers["content-type"] == "application/json"


async def test_of_a_tenant_that_one_cannot_see_it_is_said_that_there_is_none(
    console: Console, page: Page, enter: Enter
) -> None:
    other = await console.tenant(("desk", "주문 담당"))
    await enter(page)
    for path in ("/", "/graph", "/knowledge"):
        status, shown = await console.shown(page, f"{path}?tenant={other}")
        assert (status, "찾을 수 없습니다" in shown) == (404, True), path
    await console.enter(page, None)
    for path in ("/", "/graph"):
        status, shown = await console.shown(page, f"{path}?tenant=nope")
        assert (status, "찾을 수 없습니다" in shown) == (404, True), path


@pytest.mark.nightly
async def test_without_the_database_the_overview_says_how_old_its_figures_are(
    console: Console, page: Page, enter: Enter
) -> None:
    await enter(page)
    await page.goto(f"{console.base}/console/")
    await page.get_by_role("status").get_by_text("기준").wait_for()
    async with await AsyncConnection.connect(url_of(console.database)) as other:
        await other.execute("LOCK TABLE feedback IN ACCESS EXCLUSIVE MODE")
        await page.get_by_text("데이터베이스가 응답하지 않습니다").wait_for()
    await page.get_by_text("데이터베이스가 응답하지 않습니다").wait_for(state="hidden")


async def test_a_version_that_does_not_exist_is_no_deletion(
    console: Console, page: Page, enter: Enter
) -> None:
    tenant = await enter(page)
    change = await console.teach(tenant, "desk", FACT)
    item = item_page(console, change).partition("/console")[2]
    for version in (0, 99_999):
        _, shown = await console.shown(page, f"{item}&version={version}")
        assert "그런 버전이 없습니다" in shown
        assert "삭제된 항목" not in shown
