"""Cursors of the event log: opaque to clients, a transaction id and an event id (pure)."""

from __future__ import annotations

import re
from typing import NamedTuple

from core.domain.errors import InvalidInput
from core.domain.messages import Message

_CURSOR = re.compile(r"(\d{1,19})-(\d{1,19})", re.ASCII)
_MAX_ID = 2**63 - 1  # bigint; an xid8 may be larger, but no server lives that long


class EventCursor(NamedTuple):
    """Covers all events of earlier transactions, and those of this one up to `id`."""

    txid: int
    id: int

    def __str__(self) -> str:
        return f"{self.txid}-{self.id}"


START = EventCursor(0, 0)


def parse_cursor(text: str) -> EventCursor:
    """Parse a cursor. Raises InvalidInput if it is malformed."""
    found = _CURSOR.fullmatch(text)
    cursor = EventCursor(*map(int, found.groups())) if found else None
    if cursor is None or max(cursor) > _MAX_ID:
        raise InvalidInput(Message("events.no_place", text=text[:60]), hint=Message("events.hint"))
    return cursor
