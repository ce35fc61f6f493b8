"""What answers something is decided as it was said, also where the answer comes in first."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from core.app.program import App, open_app
from core.app.settings import load_settings
from core.domain.models import Agent, FeedbackStatus, NewFeedback
from tests.support.waiting import AT_LAST

WON = "송장 통화는 원화로 표기해 주세요"
DOLLARS = "송장 통화는 달러로 표기해 주세요"
INSTEAD = "아니 그건 말고 달러로요"


@pytest.fixture
async def app(database: str, tmp_path: Path) -> AsyncIterator[App]:
    settings = load_settings({"skill_worker_home": tmp_path}, env_file=None).model_copy(
        update={"database_url": SecretStr(database)}
    )
    async with open_app(settings, model=True, offline=True) as opened:
        for tenant in ("t", "u"):
            await opened.stores.agents.save(Agent(id="a", tenant_id=tenant, name="A"))
        yield opened


def said(name: str, text: str, hour: int, **given: Any) -> NewFeedback:
    whole: dict[str, Any] = {
        "id": name,
        "tenant_id": "t",
        "agent_ids": ("a",),
        "content": text,
        "said_at": f"2026-05-06T{hour:02}:00:00+09:00",
    }
    return NewFeedback.model_validate(whole | given)


async def taken(app: App, *pieces: NewFeedback) -> list[FeedbackStatus]:
    """Take pieces one after the other; return how each stands in the end."""
    ids = []
    for piece in pieces:
        ((feedback_id, _),) = await app.stores.inbox.add("s", [piece])
        ids.append(feedback_id)
        await asyncio.wait_for(app.run(True, 2, asyncio.Event(), lambda _: None), AT_LAST)
    return [(await app.stores.inbox.get(one)).status for one in ids]


async def known(app: App, tenant_id: str = "t") -> list[str]:
    found = await app.stores.knowledge.list(tenant_id=tenant_id, agent_id=None, kind=None)
    return sorted(item.content for item in found)


async def test_an_answer_that_comes_in_first_changes_what_it_answers(app: App) -> None:
    answer = said("fu8", INSTEAD, 10, in_reply_to="late1")
    ended = await taken(app, answer, said("late1", WON, 9))
    assert await known(app) == [DOLLARS]
    assert ended == [FeedbackStatus.COMPLETED] * 2


async def test_a_chain_of_answers_that_comes_in_backwards_is_put_right(app: App) -> None:
    last = said("fu9", "아니 유로로요", 11, in_reply_to="fu8")
    await taken(app, last, said("fu8", INSTEAD, 10, in_reply_to="late1"), said("late1", WON, 9))
    assert await known(app) == ["송장 통화는 유로로 표기해 주세요"]


@pytest.mark.parametrize("answers", ["of-another", "itself", "never"])
async def test_an_answer_to_what_is_not_there_leaves_no_words_behind(
    app: App, answers: str
) -> None:
    _, ended = await taken(
        app,
        said("of-another", WON, 9, tenant_id="u"),
        said("itself", INSTEAD, 10, in_reply_to=answers),
    )
    assert (await known(app), await known(app, "u")) == ([], [WON])
    assert ended is FeedbackStatus.NO_ACTION


async def test_an_addition_with_an_end_does_not_end_what_it_is_added_to(app: App) -> None:
    note = "also add the holiday note until 15 December"
    first = said("first", "Send the weekly report as a PDF", 9)
    await taken(app, first, said("more", note, 10, in_reply_to="first"))
    found = await app.stores.knowledge.list(tenant_id="t", agent_id=None, kind=None)
    ends = {item.content: item.reach.valid_until for item in found}
    assert ends["Send the weekly report as a PDF"] is None
    assert str(ends[note]).startswith("2026-12-15")
