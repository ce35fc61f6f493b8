"""The overview says of one tenant or all what it is told of them, and what blocks their work."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import pytest

from core.domain.models import FeedbackStatus, Pause, PauseKind, TenantBudget
from core.domain.models.views import (
    EndedSeries,
    Overview,
    Standing,
    WaitingReviews,
    WorkerSeen,
)
from core.entrypoints.health_verdict import STUCK_SECONDS
from core.entrypoints.service.overview import OverviewService
from tests.support.sessions import Asked, principal, session_of

NOW = datetime(2026, 11, 22, tzinfo=UTC)
PAUSED = Pause(kind=PauseKind.PAUSED, reason="a move", since=NOW)
DOWN = Pause(kind=PauseKind.MODEL, reason="the key is refused", since=NOW, fatal=True)
SPENT = tuple(
    TenantBudget(tenant_id=tenant, budget=Decimal(1), spent=Decimal(2)) for tenant in ("t", "u")
)
ALIVE = WorkerSeen(id=1, last_heartbeat=NOW, is_alive=True)
STANDING = Standing(last_hour={FeedbackStatus.COMPLETED: 123, FeedbackStatus.DEAD: 2})
WAITS = Standing(counts={FeedbackStatus.QUEUED: 1}, due_seconds=STUCK_SECONDS)
REFUSED = SimpleNamespace(breaker=Asked(current_pause=DOWN))


async def overview(
    tenant_id: str | None,
    *,
    paused: Pause | None = None,
    learning: object = None,
    standing: Standing = STANDING,
    checks: Mapping[str, str] = {},
) -> Overview:
    figures = Asked(
        standing=standing,
        workers=(ALIVE,),
        ended=EndedSeries(step_seconds=900),
        outcomes=(),
        reviews=WaitingReviews(),
    )
    session = session_of(
        principal(tenant_id),
        parts={
            "checks": Asked(checks=checks).checks,
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
    assert (await overview("t", paused=PAUSED, learning=REFUSED)).holds == (PAUSED, DOWN)
    assert (await overview("t", learning=REFUSED)).holds == (DOWN,)
    assert (await overview("t", paused=PAUSED)).holds == (PAUSED,)


@pytest.mark.parametrize(("tenant_id", "seen"), [("t", ["t"]), ("v", []), (None, ["t", "u"])])
async def test_tenants_at_their_budget_are_seen_by_themselves_and_by_all(
    tenant_id: str | None, seen: list[str]
) -> None:
    found = await overview(tenant_id)
    assert found.tenant_id == tenant_id
    assert [one.tenant_id for one in found.at_budget] == seen


@pytest.mark.parametrize(
    ("given", "word", "why"),
    [
        ({"standing": WAITS}, "stuck", "daily budgets are used up: t"),
        ({"standing": WAITS, "learning": REFUSED}, "stuck", "the key is refused"),
        ({"checks": {"database": "ok", "pods": "away"}}, "failing", "pods (away)"),
        ({}, "idle", "nothing waits"),
    ],
)
async def test_the_state_of_health_is_that_of_all_that_is_shown(
    given: dict[str, Any], word: str, why: str
) -> None:
    found = await overview("t", **given)
    assert found.condition.word == word
    assert why in found.condition.reason


async def test_what_ended_in_an_hour_is_counted_and_said_per_minute() -> None:
    found = await overview("t")
    assert (found.ended_last_hour, found.ended_per_minute) == (125, 2.08)
