"""What holds for a time, through the worker with the stand-in: nothing else ends with it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path

import pytest
from pydantic import SecretStr

from core.app.program import App, open_app
from core.app.settings import load_settings
from core.domain.models import Agent, Kind, KnowledgeItem, NewFeedback
from tests.support.waiting import AT_LAST

KST = timezone(timedelta(hours=9))
THIS_MONTH = "이번 달 말까지"


@pytest.fixture
async def app(database: str, tmp_path: Path) -> AsyncIterator[App]:
    settings = load_settings(
        {"skill_worker_home": tmp_path, "time_zone": "Asia/Seoul"}, env_file=None
    ).model_copy(update={"database_url": SecretStr(database)})
    async with open_app(settings, model=True, offline=True) as opened:
        await opened.stores.agents.save(Agent(id="a", tenant_id="t", name="A"))
        yield opened


async def told(app: App, *texts: str, thread: str | None = None) -> Sequence[KnowledgeItem]:
    """Say texts one after another; return what is known then, in the order of its texts."""
    for text in texts:
        said = NewFeedback(tenant_id="t", agent_ids=("a",), content=text, thread=thread)
        await app.stores.inbox.add("test", [said])
        await asyncio.wait_for(app.run(True, 1, asyncio.Event(), lambda _: None), AT_LAST)
    items = await app.stores.knowledge.list(tenant_id="t", agent_id=None, kind=None)
    return sorted(items, key=lambda item: item.content)


def ends(items: Sequence[KnowledgeItem]) -> list[tuple[str, date | None]]:
    return [
        (item.content, item.valid_until.astimezone(KST).date() if item.valid_until else None)
        for item in items
    ]


def end_of_month() -> date:
    today = datetime.now(UTC).astimezone(KST).date()
    return (today.replace(day=1) + timedelta(days=32)).replace(day=1) - timedelta(days=1)


async def test_what_ends_alike_is_not_one_thing(app: App) -> None:
    facts = (
        "배송비는 무료로 처리해 주세요.",
        "상담 전화는 1588-1234로 안내해 주세요.",
        "신용카드 결제는 받지 않습니다.",
    )
    items = await told(app, *(f"{THIS_MONTH} {fact}" for fact in facts))
    assert ends(items) == [(fact, end_of_month()) for fact in sorted(facts)]


async def test_what_always_holds_stays_beside_what_holds_for_a_time(app: App) -> None:
    always = "Quotes always show the delivery date."
    for_now = "Until the end of the year quotes show the delivery date and the holiday note."
    items = await told(app, always, for_now)
    year = datetime.now(UTC).astimezone(KST).year
    assert ends(items) == [(always, None), (for_now, date(year, 12, 31))]


async def test_what_replaces_something_for_a_time_leaves_it_for_later(app: App) -> None:
    always = "배송비는 3천원입니다."
    items = await told(app, always, f"{THIS_MONTH} 배송비는 5천원입니다.")
    assert (always, None) in ends(items)
    assert len(items) == 2


async def test_what_always_holds_does_not_end_with_what_is_known(app: App) -> None:
    first = f"{THIS_MONTH} 견적서에 납기일을 적어 주세요."
    items = await told(app, first, "견적서에 납기일과 휴일 안내를 적어 주세요.")
    assert ends(items) == [
        ("견적서에 납기일과 휴일 안내를 적어 주세요.", None),
        ("견적서에 납기일을 적어 주세요.", end_of_month()),
    ]


async def test_an_addition_in_a_conversation_ends_with_what_it_adds_to(app: App) -> None:
    items = await told(app, f"{THIS_MONTH} 배송비는 무료입니다.", "단, 의류만요.", thread="x")
    assert ends(items) == [("배송비는 무료입니다.\n단, 의류만요.", end_of_month())]


async def test_a_later_word_may_set_the_end_alone(app: App) -> None:
    items = await told(app, "배송비는 무료입니다.", f"{THIS_MONTH}만요.", thread="x")
    assert ends(items) == [("배송비는 무료입니다.", end_of_month())]


async def test_a_rule_for_a_time_ends(app: App) -> None:
    (item,) = await told(app, f"{THIS_MONTH} 100만원을 넘는 주문은 팀장 승인을 받아야 합니다.")
    assert item.kind is Kind.MEMORY
    assert ends([item])[0][1] == end_of_month()
