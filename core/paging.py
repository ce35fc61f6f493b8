"""Cursors of lists: opaque to their users, the place after which the next page begins (pure)."""

from __future__ import annotations

import base64
import binascii
from datetime import datetime
from typing import NamedTuple

from core.errors import InvalidInput


class Place(NamedTuple):
    """Where a page ended: the creation time and id of its last item."""

    at: datetime
    id: str


def encode_cursor(place: Place) -> str:
    """Give the cursor of a place."""
    return base64.urlsafe_b64encode(f"{place.at.isoformat()} {place.id}".encode()).decode()


def decode_cursor(cursor: str) -> Place:
    """Give the place of a cursor. Raises InvalidInput on what is none."""
    try:
        text = base64.b64decode(cursor.encode("ascii"), altchars=b"-_", validate=True).decode()
        at, _, item_id = text.partition(" ")
        place = Place(datetime.fromisoformat(at), item_id)
    except (ValueError, binascii.Error) as error:
        raise _no_cursor(cursor) from error
    if place.at.tzinfo is None:
        raise _no_cursor(cursor)
    return place


def _no_cursor(cursor: str) -> InvalidInput:
    return InvalidInput(f"{cursor!r} is no cursor", hint="use `next` of the page before")
