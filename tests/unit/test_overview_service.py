"""The overview says of one tenant or all what it is told of them, and what blocks their work."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from types import SimpleNamespace

import pytest

from core.domain.models import FeedbackStatus, Pause, PauseKind, TenantBudget
from core.domain.models.views import EndedSeries, Overview, Standing, WaitingReviews
from core.entrypoints.service.overview import OverviewService
from tests.support.sessions import Asked, principal, session_of

NOW = datetime(2026, 11, 22, tzinfo=UTC)
PAUSED = Pause(kind=PauseKind.PAUSED, reason="a move", since=NOW)
DOWN = Pause(kind=PauseKind.MODEL, reason="the key is refused", since=NOW, fatal=True)
SPENT = tuple(
    TenantBudget(tenant_id=tenant, budget=Decimal(1), spent=Decimal(2)) for tenant in ("t", "u")
)
ENDED = {FeedbackStatus.COMPLETED: 100, FeedbackStatus.DEAD: 25}


async def overview(
    tenant_id: str | None, *, paused: Pause | None = None, learning: object = None
) -> Overview:
    figures = Asked(
        standing=Standing(last_hour=ENDED),
        workers=(),
        ended=EndedSeries(step_seconds=900),
        outcomes=(),
        reviews=WaitingReviews(),
    )
    session = session_of(
        principal(tenant_id),
        parts={
            "checks": Asked(checks={}).checks,
            "learning": learning,
            "currency": "USD",
        },
        intake=Asked(paused=paused),
        spending=Asked(of_days=[]),
        budgets=Asked(used_up=SPENT),
        figures=figures,
    )
    return await OverviewService(session).overview()


async def test_what_the_model_and_a_person_hold_back_is_said() -> None:
    learning = SimpleNamespace(breaker=Asked(current_pause=DOWN))
    assert (await overview("t", paused=PAUSED, learning=learning)).holds == (PAUSED, DOWN)
    assert (await overview("t", learning=learning)).holds == (DOWN,)
    assert (await overview("t", paused=PAUSED)).holds == (PAUSED,)


@pytest.mark.parametrize(("tenant_id", "seen"), [("t", ["t"]), ("v", []), (None, ["t", "u"])])
async def test_tenants_at_their_budget_are_seen_by_themselves_and_by_all(
    tenant_id: str | None, seen: list[str]
) -> None:
    found = await overview(tenant_id)
    assert [one.tenant_id for one in found.at_budget] == seen


async def test_what_ended_in_an_hour_is_counted_and_said_per_minute() -> None:
    found = await overview("t")
    assert (found.ended_last_hour, found.ended_per_minute) == (125, 2.08)
