"""Who is told of each event once it is committed: the log, and others, none of whom does harm."""

from __future__ import annotations

import structlog

from core.domain.models import RunEvent, Usage
from core.domain.ports import Observer

log = structlog.get_logger(__name__)

_TAKEN = {"event", "level", "logger", "timestamp", "exc_info", "stack_info"}  # by the logger


def nobody(event: RunEvent, spent: Usage) -> None:
    """Tell nobody."""
    del event, spent


def log_event(event: RunEvent, spent: Usage) -> None:
    """Write a line about the event, with its ids and its data."""
    del spent  # it is part of the data
    ids = event.model_dump(exclude={"id", "at", "name", "data", "state"}, exclude_none=True)
    data = {f"{key}_" if key in _TAKEN else key: value for key, value in event.data.items()}
    log.info(event.name, **{**data, **ids})


def all_of(*observers: Observer) -> Observer:
    """Tell several, in order; what one of them breaks is logged and keeps nothing from the next."""

    def tell(event: RunEvent, spent: Usage) -> None:
        for observer in observers:
            try:
                observer(event, spent)
            except Exception:  # what happened has happened, whoever cannot take it in
                log.exception("observer.broke", name=event.name)

    return tell
