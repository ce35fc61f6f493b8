"""The health state in one word: idle, busy, blocked, stuck or failing, and why (pure)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from core.domain.messages import Message, joined, term
from core.domain.models import FeedbackStatus, Pause, TenantBudget
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
    pauses: Sequence[Pause],
    at_budget: Sequence[TenantBudget],
    checks: Mapping[str, str],
) -> Condition:
    """Return the first that applies: stuck, failing, blocked by budgets, busy, idle."""
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
            word=Word.HELD_BACK,
            reason=_budgets(at_budget),
        )
    if queued or processing:
        counts = Message("health.busy", processing=processing, queued=queued)
        return Condition(
            word=Word.BUSY, reason=joined([counts, *([_paused(pauses)] if pauses else [])])
        )
    return Condition(
        word=Word.IDLE,
        reason=_paused(pauses) if pauses else Message("health.nothing_waits"),
    )


def _stuck(
    standing: Standing,
    workers: Sequence[WorkerSeen],
    pauses: Sequence[Pause],
    at_budget: Sequence[TenantBudget],
) -> str:
    """Return why nothing proceeds; empty if something does, or nothing needs to."""
    if standing.due_seconds < STUCK_SECONDS:
        return ""
    waits = Message("health.oldest_waits", time=_minutes(standing.due_seconds))
    if not any(worker.is_alive for worker in workers):
        return Message("health.no_worker", waits=waits)
    if pauses:
        return joined([waits, _paused(pauses)])
    if sum(standing.last_minutes.values()):
        return ""
    if at_budget:
        return joined([waits, _budgets(at_budget)])
    return Message("health.nothing_ended", waits=waits, time=_minutes(STUCK_SECONDS))


def _failing(standing: Standing, pauses: Sequence[Pause], checks: Mapping[str, str]) -> str:
    fatal = [pause for pause in pauses if pause.fatal]
    if fatal:
        return _paused(fatal)
    bad = sum(standing.last_hour.get(status, 0) for status in _BAD)
    ended = sum(standing.last_hour.values())
    if bad >= FAILING_LEAST and bad >= FAILING_SHARE * ended:
        return Message("health.many_failed", bad=bad, ended=ended)
    down = [f"{name} ({state})" for name, state in sorted(checks.items()) if state != _OK]
    if not down:
        return ""
    return Message("health.not_well", names=", ".join(down))


def _paused(pauses: Sequence[Pause]) -> str:
    reasons = joined(
        Message("health.pause", kind=pause.kind, why=pause.reason)
        if pause.reason
        else term(pause.kind.value)
        for pause in pauses
    )
    return Message("health.held_back", reasons=reasons)


def _minutes(seconds: float) -> str:
    minutes = int(seconds // 60)
    if minutes < 120:
        return Message("time.minutes", n=minutes)
    return Message("time.hours", n=minutes // 60)


def _budgets(at_budget: Sequence[TenantBudget]) -> Message:
    return Message("health.budgets_used_up", tenants=_some(at_budget))


def _some(tenants: Sequence[TenantBudget]) -> str:
    names = [tenant.tenant_id for tenant in tenants[:3]]
    return ", ".join(names) + (f" and {len(tenants) - 3} more" if len(tenants) > 3 else "")
