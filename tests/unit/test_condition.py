"""The health state in one word: the first that applies, and why."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal

import pytest

from core.domain.models import FeedbackStatus, Pause, PauseKind, TenantBudget
from core.domain.models.views import Standing, WorkerSeen
from core.entrypoints.health_verdict import STUCK_SECONDS, judge

NOW = datetime(2026, 11, 22, tzinfo=UTC)
ALIVE = WorkerSeen(id=1, last_heartbeat=NOW, is_alive=True)
SILENT = WorkerSeen(id=2, last_heartbeat=NOW, is_alive=False)
PAUSED = Pause(kind=PauseKind.PAUSED, reason="a move", since=NOW)
FATAL = Pause(kind=PauseKind.MODEL, reason="the key is refused", since=NOW, fatal=True)
SPENT = TenantBudget(tenant_id="t", budget=Decimal(1), spent=Decimal(2), waiting=3)
DEAD, FAILED, DONE = FeedbackStatus.DEAD, FeedbackStatus.FAILED, FeedbackStatus.COMPLETED
WAITS = {"counts": {FeedbackStatus.QUEUED: 2}, "due_seconds": STUCK_SECONDS}
MOVES = {"last_minutes": {DONE: 1}, "last_hour": {DONE: 1}}


def told(
    standing: Mapping[str, object] = {},
    workers: tuple[WorkerSeen, ...] = (ALIVE,),
    pauses: tuple[Pause, ...] = (),
    at_budget: tuple[TenantBudget, ...] = (),
    checks: Mapping[str, str] = {},
) -> str:
    found = judge(
        Standing.model_validate(standing),
        workers=workers,
        pauses=pauses,
        at_budget=at_budget,
        checks=checks,
    )
    return f"{found.word}: {found.reason}"


def test_without_anything_to_do_it_is_idle_also_without_a_worker() -> None:
    assert told() == told(workers=()) == "idle: nothing waits"
    assert told(pauses=(PAUSED,)) == "idle: work is held back (paused: a move)"


def test_with_something_to_do_it_is_busy() -> None:
    counts = {FeedbackStatus.QUEUED: 2, FeedbackStatus.PROCESSING: 1}
    assert told({"counts": counts}) == "busy: 1 being processed, 2 queued"
    assert told({"counts": counts}, pauses=(PAUSED,)).endswith("held back (paused: a move)")


def test_where_all_waiting_tenants_are_at_their_budget_it_is_held_back() -> None:
    queued, processing = FeedbackStatus.QUEUED, FeedbackStatus.PROCESSING
    said = told({"counts": {queued: 3}}, at_budget=(SPENT,))
    assert said == "held_back: daily budgets are used up: t"
    assert told({"counts": {queued: 4}}, at_budget=(SPENT,)).startswith("busy")
    assert told({"counts": {queued: 2, processing: 1}}, at_budget=(SPENT,)).startswith("busy")
    assert told({"counts": {}}, at_budget=(SPENT,)).startswith("idle")


def test_what_waits_long_while_other_things_end_is_busy() -> None:
    assert told({**WAITS, **MOVES}).startswith("busy")
    assert told({**WAITS, **MOVES}, at_budget=(SPENT,)).startswith("held_back")
    assert told({**WAITS, "due_seconds": STUCK_SECONDS - 1}, workers=()).startswith("busy")


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"workers": (SILENT,)}, "10 minutes and no worker is alive"),
        ({"workers": ()}, "no worker is alive"),
        ({"pauses": (PAUSED,)}, "work is held back (paused: a move)"),
        ({"at_budget": (SPENT,)}, "daily budgets are used up: t"),
        ({}, "nothing has ended for 10 minutes"),
    ],
)
def test_what_waits_long_and_does_not_move_is_stuck(given: dict[str, object], why: str) -> None:
    assert told(WAITS, **given).startswith("stuck: the oldest has waited for 10 minutes")  # type: ignore[arg-type]
    assert why in told(WAITS, **given)  # type: ignore[arg-type]


def test_work_that_is_held_is_stuck_even_where_something_ended_just_before() -> None:
    assert told({**WAITS, **MOVES}, pauses=(PAUSED,)).startswith("stuck")
    assert told({**WAITS, **MOVES}, workers=(SILENT,)).startswith("stuck")


@pytest.mark.parametrize(
    ("ended", "is_failing"),
    [
        ({FAILED: 2}, False),
        ({FAILED: 2, DEAD: 1}, True),
        ({FAILED: 3, DONE: 12}, True),
        ({FAILED: 3, DONE: 13}, False),
        ({DONE: 100}, False),
    ],
)
def test_it_fails_where_much_of_the_last_hour_failed(
    ended: dict[FeedbackStatus, int], is_failing: bool
) -> None:
    assert told({"last_hour": ended}).startswith("failing") is is_failing


def test_it_fails_where_a_dependency_is_not_well_or_a_model_refuses_us() -> None:
    checks = {"database": "ok", "skill_api": "timeout"}
    assert told(checks=checks) == "failing: not well: skill_api (timeout)"
    assert told(pauses=(FATAL,)).startswith("failing: work is held back (model: the key")


def test_long_lists_and_times_are_told_short() -> None:
    many = tuple(SPENT.model_copy(update={"tenant_id": f"t{n}"}) for n in range(9))
    reason = told({**WAITS, "due_seconds": 90_000.0}, at_budget=many)
    assert "25 hours" in reason
    assert reason.endswith("t0, t1, t2 and 6 more")
