"""What the console shows of a follow-up, and of how long and for whom a memory holds."""

from __future__ import annotations

from datetime import UTC, datetime
from types import SimpleNamespace
from typing import cast

import pytest
from starlette.requests import Request

from core.domain.models import Feedback, Reach, Scope
from core.entrypoints.console.language import Language
from core.entrypoints.console.pages.run.page import facts
from core.entrypoints.console.parts.named import reach_text
from core.entrypoints.console.visit import Visit
from core.entrypoints.service.run import RunLine
from core.entrypoints.service.session import Session

AT = datetime(2026, 5, 1, 9, tzinfo=UTC)
END = datetime(2026, 5, 31, 14, 59, 59, tzinfo=UTC)
SESSION = cast("Session", SimpleNamespace(app=SimpleNamespace(currency="USD")))
KO, EN = (
    Visit(cast("Request", None), SESSION, language, lambda: AT)
    for language in (Language.KO, Language.EN)
)
PIECE = Feedback(
    id="f1",
    source="s",
    source_id="1",
    tenant_id="t",
    agent_ids=("a",),
    content="아니 그건 말고 <b>달러</b>로요",
    created_at=AT,
    said_at=AT,
)


def shown(**given: object) -> str:
    piece = PIECE.model_copy(update=given)
    return str(facts(KO, RunLine(feedback=piece, candidates=(), changes=(), steps=())))


def test_a_run_shows_what_its_piece_answers_and_is_about() -> None:
    page = shown(in_reply_to="s-1", thread="견적 7", output={"합계": "<3,500,000원>"})
    for text in ("s-1", "견적 7", "대상이 된 결과물", "&lt;3,500,000원&gt;"):
        assert text in page
    assert "<b>" not in page


def test_a_piece_that_stands_alone_shows_no_conversation() -> None:
    page = shown()
    for word in ("답하는 대상", "대화", "대상이 된 결과물", "쓰지 않은 시각"):
        assert word not in page


def test_a_time_that_was_not_taken_is_shown_with_the_reason() -> None:
    page = shown(claimed_said_at=datetime(2999, 1, 1, tzinfo=UTC))
    assert "출처가 말한 시각 2999-01-01T00:00:00+00:00" in page
    assert "접수보다 5분 넘게 늦어" in page


@pytest.mark.parametrize(
    ("reach", "korean", "english"),
    [
        (Reach(), "a 전용", "for a"),
        (Reach(scope=Scope.TENANT), "모든 에이전트용", "for all agents"),
        (Reach(scope=Scope.USER, user="kim"), "사용자 kim 전용", "for user kim"),
        (
            Reach(valid_until=END),
            "a 전용 · 2026-05-31 14:59:59 UTC까지",
            "for a · until 2026-05-31 14:59:59 UTC",
        ),
    ],
)
def test_how_long_and_for_whom_is_told_in_the_readers_language(
    reach: Reach, korean: str, english: str
) -> None:
    assert reach_text(KO, reach, "a") == korean
    assert reach_text(EN, reach, "a") == english


def test_a_list_says_nothing_of_what_has_neither_end_nor_other_scope() -> None:
    assert reach_text(KO, Reach()) == ""
