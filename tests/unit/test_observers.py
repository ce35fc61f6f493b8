"""A failing observer neither undoes an event nor keeps it from other observers."""

from __future__ import annotations

import structlog

from core.domain.models import NO_USAGE, RunEvent, Usage
from core.domain.observers import all_of, log_event

CLAIMED = RunEvent(name="feedback.claimed", feedback_id="f1", data={"attempt": 1, "event": "x"})


def _break(_: RunEvent, __: Usage) -> None:
    raise ZeroDivisionError


def test_an_observer_that_breaks_is_logged_and_the_next_is_told() -> None:
    told: list[RunEvent] = []
    with structlog.testing.capture_logs() as logs:
        all_of(_break, lambda event, _: told.append(event))(CLAIMED, NO_USAGE)
    assert told == [CLAIMED]
    assert [(line["event"], line["log_level"]) for line in logs] == [("observer.broke", "error")]


def test_a_line_of_the_log_carries_ids_and_data_under_names_that_are_free() -> None:
    with structlog.testing.capture_logs() as logs:
        log_event(CLAIMED, NO_USAGE)
    (line,) = logs
    assert line["event"] == "feedback.claimed"
    assert (line["feedback_id"], line["attempt"], line["event_"]) == ("f1", 1, "x")
    assert "tenant_id" not in line
