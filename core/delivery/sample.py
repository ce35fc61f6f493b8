"""Made-up events, to try hooks on."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

from pydantic import JsonValue

from core.delivery.hooks import ENDINGS, values_of
from core.domain.models import RunEvent
from core.domain.models.deliveries import Delivery
from core.domain.ports.deliveries import BEFORE

_AT = datetime(2026, 1, 31, 9, tzinfo=UTC)
_CHANGE: dict[str, JsonValue] = {
    "kind": "MEMORY",
    "operation": "CREATE",
    "target_id": "mem-sample",
    "target_name": "Ms. Kim wants amounts without decimals",
}
_MORE: Mapping[str, dict[str, JsonValue]] = {
    "change.held": {"because": ["every change is reviewed"]},
    "change.reminded": {"waited_seconds": 90_000},
    "change.failed": {"error": "the skill API does not answer"},
    "change.refused": {"error": "there is a memory of this name"},
    "change.rejected": {"by": "sample", "reason": "not true"},
    "change.approved": {"by": "sample"},
    "case.broken": {"cases": ["case-0123456789abcdef"], "came_to": "refused"},
    "case.added": {"cases": ["case-0123456789abcdef"]},
    "case.retired": {"cases": ["case-0123456789abcdef"]},
    "case.derived": {"cases": ["case-0123456789abcdef"]},
    "case.failed": {"case": "case-0123456789abcdef"},
    "case.disabled": {"case": "case-0123456789abcdef", "by": "sample"},
    "feedback.finished": {"status": "completed"},
    "feedback.completed": {"status": "completed"},
    "feedback.failed": {"status": "failed", "error": "the model did not answer"},
    "hook.disabled": {"hook": "sample", "error": "it wants nothing any more"},
}
_WORDS: dict[str, JsonValue] = {
    "agent_id": "sample",
    "before": None,
    "after": "Ms. Kim wants amounts without decimals.",
    "feedback": "Ms. Kim does not want decimals in amounts",
    "reason": "a sample",
    "origin": "agent",
    "warnings": 0,
}


def sample(name: str, delivery_id: str) -> tuple[Delivery, Mapping[str, JsonValue]]:
    """Return a delivery of a made-up event, and what conditions may name of it."""
    is_change = name == BEFORE or name.startswith("change.")
    data = {**(_CHANGE if is_change else {}), **_MORE.get(name, {})}
    data |= _WORDS if name == BEFORE else {}
    event = RunEvent(
        name="feedback.finished" if name in ENDINGS else name,
        at=_AT,
        tenant_id="sample",
        feedback_id="sample-feedback",
        change_id="sample-change" if is_change else None,
        data=data,
    )
    delivery = Delivery(
        id=delivery_id,
        tenant_id="sample",
        target="sample",
        event=name,
        payload=event,
        created_at=_AT,
    )
    return delivery, values_of(event, name)
