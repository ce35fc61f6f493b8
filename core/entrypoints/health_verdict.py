"""The health state in one word: idle, busy, blocked, stuck or failing, and why (pure)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from core.domain.models import FeedbackStatus, Hold, TenantBudget
from core.domain.models.views import Condition, Standing, Word, WorkerSeen

STUCK_SECONDS = 600.0  # how long something that could be started has waited
FAILING_LEAST = 3  # failed or dead within an hour, at least
FAILING_SHARE = 0.2  # and at least this share of those that ended
_BAD = (FeedbackStatus.FAILED, FeedbackStatus.DEAD)
_OK = "ok"


def judge(
    standing: Standing,
    *,
    workers: Sequence[WorkerSeen],
    holds: Sequence[Hold],
    at_budget: Sequence[TenantBudget],
    checks: Mapping[str, str],
) -> Condition:
    """Return the first that applies: stuck, failing, blocked by budgets, busy, idle."""
    stuck = _stuck(standing, workers, holds, at_budget)
    if stuck:
        return Condition(word=Word.STUCK, reason=stuck)
    failing = _failing(standing, holds, checks)
    if failing:
        return Condition(word=Word.FAILING, reason=failing)
    queued = standing.counts.get(FeedbackStatus.QUEUED, 0)
    processing = standing.counts.get(FeedbackStatus.PROCESSING, 0)
    if queued and not processing and sum(one.waiting for one in at_budget) >= queued:
        return Condition(
            word=Word.HELD_BACK, reason=f"daily budgets are used up: {_some(at_budget)}"
        )
    if queued or processing:
        held = f"; {_held(holds)}" if holds else ""
        return Condition(
            word=Word.BUSY, reason=f"{processing} being processed, {queued} queued{held}"
        )
    return Condition(word=Word.IDLE, reason=_held(holds) if holds else "nothing waits")


def _stuck(
    standing: Standing,
    workers: Sequence[WorkerSeen],
    holds: Sequence[Hold],
    at_budget: Sequence[TenantBudget],
) -> str:
    """Return why nothing proceeds; empty if something does, or nothing needs to."""
    if standing.due_seconds < STUCK_SECONDS:
        return ""
    waits = f"the oldest has waited for {_minutes(standing.due_seconds)}"
    if not any(worker.is_alive for worker in workers):
        return f"{waits} and no worker is alive"
    if holds:
        return f"{waits}; {_held(holds)}"
    if sum(standing.last_minutes.values()):
        return ""
    if at_budget:
        return f"{waits}; daily budgets are used up: {_some(at_budget)}"
    return f"{waits} and nothing has ended for {_minutes(STUCK_SECONDS)}"


def _failing(standing: Standing, holds: Sequence[Hold], checks: Mapping[str, str]) -> str:
    fatal = [hold for hold in holds if hold.fatal]
    if fatal:
        return _held(fatal)
    bad = sum(standing.last_hour.get(status, 0) for status in _BAD)
    ended = sum(standing.last_hour.values())
    if bad >= FAILING_LEAST and bad >= FAILING_SHARE * ended:
        return f"{bad} of the {ended} that ended in the last hour failed"
    down = sorted(name for name, state in checks.items() if state != _OK)
    return f"not well: {', '.join(f'{name} ({checks[name]})' for name in down)}" if down else ""


def _held(holds: Sequence[Hold]) -> str:
    reasons = [f"{hold.kind.value}: {hold.reason}".removesuffix(": ") for hold in holds]
    return f"work is held back ({'; '.join(reasons)})"


def _minutes(seconds: float) -> str:
    minutes = int(seconds // 60)
    return f"{minutes} minutes" if minutes < 120 else f"{minutes // 60} hours"


def _some(tenants: Sequence[TenantBudget]) -> str:
    names = [tenant.tenant_id for tenant in tenants[:3]]
    return ", ".join(names) + (f" and {len(tenants) - 3} more" if len(tenants) > 3 else "")
