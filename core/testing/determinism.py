"""Deterministic ids and times."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import count

from core.domain.ports import NewId

_START = datetime(2026, 1, 1, tzinfo=UTC)


def counting_ids(prefix: str) -> NewId:
    """Return a generator of `prefix-000001`, `prefix-000002` and so on."""
    numbers = count(1)
    return lambda: f"{prefix}-{next(numbers):06d}"


def ticking_clock() -> Callable[[], datetime]:
    """Return a clock that advances by a second per reading, from the start of 2026."""
    seconds = count()
    return lambda: _START + timedelta(seconds=next(seconds))
