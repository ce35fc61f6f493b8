"""Places in the row of events: opaque to their users, a transaction and an id in it (pure)."""

from __future__ import annotations

import re
from typing import NamedTuple

from core.domain.errors import InvalidInput

_PLACE = re.compile(r"(\d{1,19})-(\d{1,19})", re.ASCII)
_MOST = 2**63 - 1  # of an id; transactions go further, but not in the life of a server


class EventCursor(NamedTuple):
    """All events of earlier transactions lie before it, and those of this one up to the id."""

    txid: int
    id: int

    def __str__(self) -> str:
        return f"{self.txid}-{self.id}"


START = EventCursor(0, 0)


def read_place(text: str) -> EventCursor:
    """Read a place. Raises InvalidInput on what is none."""
    found = _PLACE.fullmatch(text)
    place = EventCursor(*map(int, found.groups())) if found else None
    if place is None or max(place) > _MOST:
        raise InvalidInput(
            f"{text[:60]!r} is no place in the events", hint="give the `id` of an event that came"
        )
    return place
