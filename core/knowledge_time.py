"""Which version of an item held at a time, and what to say where none did (pure)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from core.errors import NotFound
from core.models import Kind, KnowledgeItem


def stood(versions: Sequence[KnowledgeItem], at: datetime) -> KnowledgeItem | None:
    """Give the version that held at `at`, of an item's versions, oldest first; None for none.

    A span takes in its start and leaves out its end. Where two begin at once the later one holds.
    """
    holding = (item for item in reversed(versions) if _since(item) <= at)
    found = next(holding, None)
    return found if found and (found.valid_to is None or at < found.valid_to) else None


def absent(
    kind: Kind, item_id: str, at: datetime, versions: Sequence[KnowledgeItem] = ()
) -> NotFound:
    """Make the error for an item that was not known at `at`; it names the nearest version."""
    problem = f"there was no {kind} {item_id!r} at {at.isoformat()}"
    lasting = [item for item in versions if item.valid_to is None or _since(item) < item.valid_to]
    if not lasting:
        return NotFound(problem, hint="only what the worker changed itself is known over time")
    near = min(lasting, key=lambda item: _distance(item, at))
    if at < _since(near):
        return NotFound(problem, hint=f"{_named(near)} began then: {_option(_since(near))}")
    last = (near.valid_to or at) - timedelta(microseconds=1)
    return NotFound(problem, hint=f"{_named(near)} ended before: {_option(last)}")


def span_words(item: KnowledgeItem) -> str:
    """Say from when to when a version held."""
    since = item.valid_from.isoformat() if item.valid_from else "an unknown time"
    return f"{since} until {item.valid_to.isoformat() if item.valid_to else 'now'}"


def _since(item: KnowledgeItem) -> datetime:
    if item.valid_from is None:
        raise ValueError(f"version {item.version} of {item.id} has no start")
    return item.valid_from


def _distance(item: KnowledgeItem, at: datetime) -> timedelta:
    return _since(item) - at if at < _since(item) else at - (item.valid_to or at)


def _named(item: KnowledgeItem) -> str:
    return f"version {item.version} ({span_words(item)})"


def _option(at: datetime) -> str:
    return f"--as-of {at.isoformat()}"
