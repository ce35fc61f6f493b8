"""`python -m tests.screenshots [FOLDER]`: pictures of the console for the docs."""

from __future__ import annotations

import asyncio
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import JsonValue

from tests.support import databases
from tests.support.browsers import browser_program
from tests.support.console import Console, Data, open_console

if TYPE_CHECKING:
    from playwright.async_api import Browser

FOLDER = Path(__file__).parents[1] / "docs" / "images"
TENANT = "hanbit"
AGENTS = {"orders": "주문 담당", "billing": "Billing assistant"}
PRICES = "{offline: {input: 2.50, output: 10}}"
PHONE, DESKTOP = (390, 844), (1280, 860)


@dataclass(frozen=True)
class Said:
    """One thing a user said, and what a reviewer does with what it leads to."""

    agent: str
    content: str
    author: str
    decision: str = "approve"
    task: str = ""


STORY = (
    Said("orders", "고객에게 보내는 금액은 원화로 표기하고 소수점은 쓰지 않는다", "김지은"),
    Said("billing", "Ms. Park wants invoices as one PDF, with the order number", "Dana Park"),
    Said("orders", "주문 금액이 100만원을 넘으면 팀장 승인을 받아야 합니다", "이도윤"),
    Said("orders", "주문 금액이 500만원을 넘으면 대표 승인을 받아야 합니다", "이도윤"),
    Said("orders", "부분 환불을 정산하는 절차: 1. 주문을 찾는다 2. 환불 금액을 계산한다", "박서준"),
    Said("billing", "오늘만 영업시간을 6시까지로 안내해 주세요", "최민서"),
    Said("orders", "Thanks, that was quick!", "Dana Park"),
    Said("orders", "매장 전화번호는 아무에게도 알려주지 않는다", "익명", "reject"),
    Said(
        "orders",
        "부분 환불을 정산하는 절차에서 장부에 적은 다음 팀장에게 알린다",
        "박서준",
        "wait",
        "부분 환불 정산",
    ),
    Said(
        "orders",
        "주문 금액이 300만원을 넘으면 본부장 승인을 받아야 합니다",
        "이도윤",
        "wait",
        "견적",
    ),
    Said("billing", "Write amounts in KRW without decimals on every invoice", "Dana Park", "wait"),
)


async def tell(console: Console) -> None:
    """Let the story happen."""
    async with console.client() as http:
        for agent, name in AGENTS.items():
            body: dict[str, JsonValue] = {"tenant_id": TENANT, "name": name}
            made = await http.put(f"/v1/agents/{TENANT}-{agent}", json=body)
            assert made.is_success, made.text
    for said in STORY:
        piece = await console.say(
            TENANT, said.agent, said.content, author=said.author, task=said.task
        )
        for change in await console.changes(TENANT, status="held"):
            if change["feedback_id"] == piece and said.decision == "approve":
                assert (await console.approve(change)).is_success
            elif change["feedback_id"] == piece and said.decision == "reject":
                await _reject(console, change)


async def _reject(console: Console, change: Data) -> None:
    async with console.client() as http:
        body = {"seen": change["content_hash"], "reason": "전화번호는 공개된 정보입니다"}
        assert (await http.post(f"/v1/changes/{change['id']}/reject", json=body)).is_success


async def places(console: Console) -> dict[str, str]:
    """Return what is to be shown: name -> path."""
    changes = await console.changes(TENANT)
    held = [change for change in changes if change["status"] == "held"]
    table = next(c for c in held if c["kind"] == "DMN_RULE")
    skill = next(c for c in held if c["kind"] == "SKILL")
    known = next(c for c in changes if c["kind"] == "DMN_RULE" and c["status"] == "applied")
    item = f"kind=DMN_RULE&tenant={TENANT}&id={known['target_id']}"
    return {
        "overview": "",
        "feedback": "feedback",
        "run": f"feedback/run?id={skill['feedback_id']}",
        "review": f"review?id={table['id']}",
        "review-skill": f"review?id={skill['id']}",
        "changes": "changes",
        "knowledge": "knowledge",
        "item": f"knowledge/item?{item}",
        "graph": "graph",
    }


async def shoot(
    console: Console,
    browser: Browser,
    folder: Path,
    wanted: dict[str, str],
    *,
    language: str = "ko-KR",
    dark: bool = False,
    size: tuple[int, int] = DESKTOP,
) -> None:
    """Take a picture of each place: name of the picture -> path."""
    context = await browser.new_context(
        locale=language,
        color_scheme="dark" if dark else "light",
        viewport={"width": size[0], "height": size[1]},
        reduced_motion="reduce",
    )
    page = await context.new_page()
    await console.enter(page, TENANT, name="윤하늘")
    for name, path in wanted.items():
        await page.goto(f"{console.base}/console/{path}", wait_until="networkidle")
        await page.locator("#content h1").first.wait_for()
        if name == "console-graph":
            await page.locator(".graph canvas").first.wait_for()
            await asyncio.sleep(4)  # until the nodes lie still
        await page.screenshot(path=folder / f"{name}.png", animations="disabled")
    await context.close()


async def main(folder: Path, database: str, home: Path) -> None:
    """Tell the story to a worker of its own, and take the pictures."""
    from playwright.async_api import async_playwright

    folder.mkdir(parents=True, exist_ok=True)
    async with (
        open_console(database, home, MODEL_PRICES=PRICES) as console,
        async_playwright() as playwright,
    ):
        await tell(console)
        browser = await playwright.chromium.launch(
            executable_path=browser_program(), args=["--no-sandbox", "--disable-gpu"]
        )
        shown = {f"console-{name}": path for name, path in (await places(console)).items()}
        review, overview = shown["console-review"], shown["console-overview"]
        await shoot(console, browser, folder, shown)
        dark = {"console-overview-dark": overview, "console-review-dark": review}
        await shoot(console, browser, folder, dark, language="en-US", dark=True)
        await shoot(console, browser, folder, {"console-review-phone": review}, size=PHONE)
        await browser.close()


if __name__ == "__main__":
    databases.choose_home()
    try:
        with (
            databases.test_server() as server,
            databases.fresh_database(server, databases.template(server)) as its_database,
            tempfile.TemporaryDirectory() as its_home,
        ):
            to = Path(sys.argv[1]) if sys.argv[1:] else FOLDER
            asyncio.run(main(to, its_database, Path(its_home) / "home"))
    finally:
        databases.remove_home()
