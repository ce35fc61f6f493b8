"""What people are told about an event: a title and, line by line, what is known of it."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from pydantic import JsonValue

from core.delivery.notices import notice_text
from core.domain.models.deliveries import Notice

AT = datetime(2026, 11, 3, 9, 30, tzinfo=UTC)
URL = "https://learn.example.com/console/review?id=c1"


def told(event: str, tenant: str | None = None, **data: JsonValue) -> tuple[str, list[str]]:
    title, body = notice_text(Notice("d", event, AT, tenant, data), "en")
    return title, body.splitlines()


@pytest.mark.parametrize(
    ("event", "title"),
    [
        ("change.held", "Waits for your review: Kim"),
        ("change.reminded", "Still waits for your review: Kim"),
        ("change.failed", "Could not be applied: Kim"),
        ("change.applied", "Applied: Kim"),
        ("change.rejected", "Rejected: Kim"),
        ("feedback.failed", "Feedback could not be processed"),
        ("feedback.completed", "Feedback was processed"),
        ("hook.disabled", "A hook was switched off"),
        ("case.broken", "skill-worker: case.broken"),
    ],
)
def test_the_title_says_what_happened_and_to_what(event: str, title: str) -> None:
    assert told(event, target_name="Kim", target_id="m1") == (title, [])


def test_what_has_no_name_is_told_by_its_id() -> None:
    assert told("change.held", target_id="m1")[0].endswith(": m1")
    assert told("change.held", target_name=7, target_id="m1")[0].endswith(": m1")


def test_all_that_is_known_is_a_line_each_in_order() -> None:
    _, lines = told(
        "change.held",
        "t1",
        kind="MEMORY",
        operation="UPDATE",
        hook="page-me",
        because=["first", 2, "second"],
        error="broke",
        waited_seconds=5400,
        feedback_id="f1",
        url=URL,
    )
    assert lines == [
        "To be changed: MEMORY",
        "Hook: page-me",
        "Why: first",
        "Why: second",
        "Why: broke",
        "Waiting for 1.5 hours",
        "Tenant: t1",
        "Feedback: f1",
        f"Look: {URL}",
    ]


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        ({"kind": "MEMORY"}, []),
        ({"operation": "CREATE"}, []),
        ({"kind": "MEMORY", "operation": "RENAME"}, []),
        ({"kind": "SKILL", "operation": "CREATE"}, ["New: SKILL"]),
        ({"kind": "DMN_RULE", "operation": "DELETE"}, ["To be deleted: DMN_RULE"]),
        ({"because": "not a list", "waited_seconds": "long"}, []),
        ({"reason": "said so"}, ["Why: said so"]),
        ({"error": "broke", "reason": "said so"}, ["Why: broke"]),
        ({"waited_seconds": 0}, ["Waiting for 0 hours"]),
        ({"waited_seconds": 3_600_000}, ["Waiting for 1000 hours"]),
        ({"waited_seconds": 200.5}, ["Waiting for 0.1 hours"]),
    ],
)
def test_only_what_is_known_is_a_line(data: dict[str, JsonValue], lines: list[str]) -> None:
    assert told("change.held", **data)[1] == lines
