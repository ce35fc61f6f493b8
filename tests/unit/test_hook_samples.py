"""A hook is tried on a made-up event that reads like a true one."""

from __future__ import annotations

import pytest

from core.delivery.hooks import EVENTS
from core.delivery.sample import sample
from core.domain.ports.deliveries import BEFORE


@pytest.mark.parametrize("name", EVENTS)
def test_every_event_has_a_sample_of_its_own_name(name: str) -> None:
    made, values = sample(name, "d-1")
    assert (made.id, made.tenant_id, made.target, made.event) == ("d-1", "sample", "sample", name)
    assert made.created_at == made.payload.at
    is_ending = name in {"feedback.completed", "feedback.failed"}
    assert made.payload.name == ("feedback.finished" if is_ending else name)
    assert values["event"] == name


@pytest.mark.parametrize(
    ("name", "named"),
    [
        ("change.applied", {"kind": "MEMORY", "operation": "CREATE", "change_id": "sample-change"}),
        ("change.rejected", {"by": "sample", "reason": "not true", "target_id": "mem-sample"}),
        (BEFORE, {"kind": "MEMORY", "agent_id": "sample", "origin": "agent", "warnings": 0}),
        ("feedback.failed", {"status": "failed", "error": "the model did not answer"}),
        ("feedback.completed", {"status": "completed", "feedback_id": "sample-feedback"}),
        ("queue.paused", {"kind": None, "change_id": None, "agent_id": None}),
    ],
)
def test_conditions_find_in_a_sample_what_they_name(name: str, named: dict[str, object]) -> None:
    _, values = sample(name, "d-1")
    assert {key: values.get(key) for key in named} == named
