"""The outcome of a run on its page: its real cause, and what was refused, in the reader's words."""

from __future__ import annotations

from datetime import UTC, datetime
from types import SimpleNamespace
from typing import cast

from starlette.requests import Request

from core.domain.messages import Message, term
from core.domain.models import Candidate, Feedback, FeedbackStatus, Verdict, VerdictStatus
from core.entrypoints.console.language import Language
from core.entrypoints.console.pages.run.page import candidate_card, facts
from core.entrypoints.console.visit import Visit
from core.entrypoints.service.run import RunCandidate, RunLine
from core.entrypoints.service.session import Session

AT = datetime(2026, 5, 1, 9, tzinfo=UTC)
SESSION = cast("Session", SimpleNamespace(app=SimpleNamespace(currency="USD")))
KO = Visit(cast("Request", None), SESSION, Language.KO, lambda: AT)
WRONG = Message("run.invalid_call", tool="remember", why=Message("run.no_tool", tool="'remember'"))
LOST = Message("error.reason", kind=term("no_commit"), why=WRONG)
REFUSED = Message("feedback.partly", refused=WRONG)
PARTLY = Message("run.partly", said="기억했습니다.", refused=WRONG)


def told(status: FeedbackStatus, error: str) -> str:
    piece = Feedback(
        id="f1",
        source="s",
        source_id="1",
        tenant_id="t",
        agent_ids=("a",),
        content="원화로",
        created_at=AT,
        status=status,
        error=error,
    )
    return str(facts(KO, RunLine(feedback=piece, candidates=(), changes=(), steps=())))


def card(status: VerdictStatus, reason: str) -> str:
    verdict = Verdict(status=status, reason=reason)
    candidate = Candidate(
        id="c",
        feedback_id="f1",
        agent_id="a",
        agent_name="A",
        position=0,
        content="원화로",
        verdict=verdict,
    )
    return str(candidate_card(KO, RunCandidate(candidate=candidate)))


def test_why_a_run_failed_is_told_in_the_reader_s_language() -> None:
    cause = "remember 호출이 올바르지 않습니다: &#39;remember&#39; 도구는 없습니다"
    assert cause in told(FeedbackStatus.FAILED, LOST)
    assert cause in card(VerdictStatus.FAILED, LOST)
    assert "banner bad" in told(FeedbackStatus.FAILED, LOST)


def test_what_was_refused_beside_what_was_learnt_is_a_warning() -> None:
    page = told(FeedbackStatus.COMPLETED, REFUSED)
    assert "일부는 배우지 못했습니다: remember 호출이 올바르지 않습니다" in page
    assert "banner warn" in page
    assert "기억했습니다. (배우지 못한 부분: remember" in card(VerdictStatus.COMPLETED, PARTLY)
