"""Cursors of lists: opaque to their users, the place after which the next page begins (pure)."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from core.domain.errors import InvalidInput
from core.domain.input_formats.text import json_problem
from core.domain.models.base import Model

_DIGEST_CHARS = 12
_HINT = "use `next` of the page before, with the same filters"


class Place(NamedTuple):
    """Where a page ended: the creation time and id of its last item."""

    at: datetime
    id: str


def query_digest(name: str, wanted: Model) -> str:
    """Tell one list and its filters from all others, in a few characters."""
    text = f"{name} {wanted.model_dump_json()}"
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGEST_CHARS]


def encode_cursor(place: Place, query: str) -> str:
    """Give the cursor of a place in the list of `query` (a `query_digest`)."""
    return encode_parts((place.at.isoformat(), place.id), query)


def decode_cursor(cursor: str, query: str) -> Place:
    """Give the place of a cursor. Raises InvalidInput on what is none, or another list's."""
    at, item_id = decode_parts(cursor, query, 2)
    try:
        place = Place(datetime.fromisoformat(at), item_id)
    except ValueError as error:
        raise _no_cursor(cursor) from error
    if place.at.utcoffset() is None:
        raise _no_cursor(cursor)
    return place


def encode_parts(parts: Sequence[str], query: str) -> str:
    """Give the cursor of a place that other texts tell than a time and an id."""
    data = json.dumps([query, *parts], ensure_ascii=False, separators=(",", ":"))
    return base64.urlsafe_b64encode(data.encode()).decode().rstrip("=")


def decode_parts(cursor: str, query: str, count: int) -> Sequence[str]:
    """Give the `count` texts of a cursor. Raises InvalidInput."""
    try:
        padded = cursor.encode("ascii") + b"=" * (-len(cursor) % 4)
        read: object = json.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
    except (ValueError, binascii.Error, RecursionError) as error:
        raise _no_cursor(cursor) from error
    if not isinstance(read, list) or not all(isinstance(part, str) for part in read):
        raise _no_cursor(cursor)
    if json_problem(read) or len(read) != count + 1:
        raise _no_cursor(cursor)
    if read[0] != query:
        raise InvalidInput("the cursor is of another list, or of other filters", hint=_HINT)
    return read[1:]


def _no_cursor(cursor: str) -> InvalidInput:
    shown = cursor if len(cursor) <= 100 else f"{cursor[:100]}…"
    return InvalidInput(f"{shown!r} is no cursor", hint=_HINT)
