"""How it goes in one word: idle, busy, held back, stuck or failing, and why (pure)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from core.domain.models import FeedbackStatus, Pause, TenantBudget
from core.domain.models.views import Condition, Standing, Word, WorkerSeen

STUCK_SECONDS = 600.0  # something that may be taken up has waited for so long
FAILING_LEAST = 3  # so many failed or dead within an hour
FAILING_SHARE = 0.2  # and so many of those that ended
_BAD = (FeedbackStatus.FAILED, FeedbackStatus.DEAD)
_OK = "ok"


def judge(
    standing: Standing,
    *,
    workers: Sequence[WorkerSeen],
    pauses: Sequence[Pause],
    at_budget: Sequence[TenantBudget],
    checks: Mapping[str, str],
) -> Condition:
    """Give the first that applies: stuck, failing, held back by budgets, busy, idle."""
    stuck = _stuck(standing, workers, pauses, at_budget)
    if stuck:
        return Condition(word=Word.STUCK, reason=stuck)
    failing = _failing(standing, pauses, checks)
    if failing:
        return Condition(word=Word.FAILING, reason=failing)
    queued = standing.counts.get(FeedbackStatus.QUEUED, 0)
    processing = standing.counts.get(FeedbackStatus.PROCESSING, 0)
    if queued and not processing and sum(one.waiting for one in at_budget) >= queued:
        return Condition(
            word=Word.HELD_BACK, reason=f"daily budgets are used up: {_some(at_budget)}"
        )
    if queued or processing:
        held = f"; {_paused(pauses)}" if pauses else ""
        return Condition(
            word=Word.BUSY, reason=f"{processing} being processed, {queued} queued{held}"
        )
    return Condition(word=Word.IDLE, reason=_paused(pauses) if pauses else "nothing waits")


def _stuck(
    standing: Standing,
    workers: Sequence[WorkerSeen],
    pauses: Sequence[Pause],
    at_budget: Sequence[TenantBudget],
) -> str:
    """Say why nothing moves; empty where something does, or nothing has to."""
    if standing.due_seconds < STUCK_SECONDS:
        return ""
    waits = f"the oldest has waited for {_minutes(standing.due_seconds)}"
    if not any(worker.is_alive for worker in workers):
        return f"{waits} and no worker is alive"
    if pauses:
        return f"{waits}; {_paused(pauses)}"
    if sum(standing.last_minutes.values()):
        return ""
    if at_budget:
        return f"{waits}; daily budgets are used up: {_some(at_budget)}"
    return f"{waits} and nothing has ended for {_minutes(STUCK_SECONDS)}"


def _failing(standing: Standing, pauses: Sequence[Pause], checks: Mapping[str, str]) -> str:
    fatal = [pause for pause in pauses if pause.fatal]
    if fatal:
        return _paused(fatal)
    bad = sum(standing.last_hour.get(status, 0) for status in _BAD)
    ended = sum(standing.last_hour.values())
    if bad >= FAILING_LEAST and bad >= FAILING_SHARE * ended:
        return f"{bad} of the {ended} that ended in the last hour failed"
    down = sorted(name for name, state in checks.items() if state != _OK)
    return f"not well: {', '.join(f'{name} ({checks[name]})' for name in down)}" if down else ""


def _paused(pauses: Sequence[Pause]) -> str:
    reasons = [f"{pause.kind.value}: {pause.reason}".removesuffix(": ") for pause in pauses]
    return f"work is held back ({'; '.join(reasons)})"


def _minutes(seconds: float) -> str:
    minutes = int(seconds // 60)
    return f"{minutes} minutes" if minutes < 120 else f"{minutes // 60} hours"


def _some(tenants: Sequence[TenantBudget]) -> str:
    names = [tenant.tenant_id for tenant in tenants[:3]]
    return ", ".join(names) + (f" and {len(tenants) - 3} more" if len(tenants) > 3 else "")
