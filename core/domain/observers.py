"""Observers of committed events: the log and others, none of which can do harm."""

from __future__ import annotations

import structlog

from core.domain.models import RunEvent, Usage
from core.domain.models.deliveries import Route
from core.domain.ports import Observer

log = structlog.get_logger(__name__)

_IDS = ("tenant_id", "feedback_id", "candidate_id", "change_id")
_TAKEN = {
    "event",
    "level",
    "logger",
    "timestamp",
    "exc_info",
    "stack_info",
}  # reserved by the logger
# What a person typed: it is in the event and with the piece, and not in the log.
_TYPED = {"feedback.cancelled": "error", "queue.paused": "reason"}


def nobody(event: RunEvent, spent: Usage) -> None:
    """Ignore the event."""
    del event, spent


def nowhere(event: RunEvent) -> tuple[Route, ...]:
    """Return no routes: the event goes out to nobody."""
    del event
    return ()


def log_event(event: RunEvent, spent: Usage) -> None:
    """Log the event, with its ids and data but for what a person typed."""
    del spent  # already part of the data
    ids = {name: value for name in _IDS if (value := getattr(event, name)) is not None}
    typed = _TYPED.get(event.name)
    data = {
        f"{key}_" if key in _TAKEN else key: value
        for key, value in event.data.items()
        if key != typed
    }
    log.info(event.name, **{**data, **ids})


def all_of(*observers: Observer) -> Observer:
    """Return an observer that calls several in order; a failing one is logged and skipped."""

    def tell(event: RunEvent, spent: Usage) -> None:
        for observer in observers:
            try:
                observer(event, spent)
            except Exception:  # the event is committed, whatever an observer makes of it
                log.exception("observer.broke", name=event.name)

    return tell
