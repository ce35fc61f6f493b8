"""List cursors: opaque to clients, the position after which the next page begins (pure)."""

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
from core.domain.messages import Message
from core.domain.models.base import Model

_DIGEST_CHARS = 12
_HINT = Message("page.hint")


class Position(NamedTuple):
    """Where a page ended: the creation time and id of its last item."""

    at: datetime
    id: str


def query_digest(name: str, wanted: Model) -> str:
    """Return a short digest that identifies a list together with its filters."""
    text = f"{name} {wanted.model_dump_json()}"
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGEST_CHARS]


def encode_cursor(position: Position, query: str) -> str:
    """Return the cursor of a position in the list of `query` (a `query_digest`)."""
    return encode_parts((position.at.isoformat(), position.id), query)


def decode_cursor(cursor: str, query: str) -> Position:
    """Return the position of a cursor. Raises InvalidInput if malformed or of another list."""
    at, item_id = decode_parts(cursor, query, 2)
    try:
        position = Position(datetime.fromisoformat(at), item_id)
    except ValueError as error:
        raise _no_cursor(cursor) from error
    if position.at.utcoffset() is None:
        raise _no_cursor(cursor)
    return position


def encode_parts(parts: Sequence[str], query: str) -> str:
    """Return the cursor of a position that is given by texts other than time and id."""
    data = json.dumps([query, *parts], ensure_ascii=False, separators=(",", ":"))
    return base64.urlsafe_b64encode(data.encode()).decode().rstrip("=")


def decode_parts(cursor: str, query: str, count: int) -> Sequence[str]:
    """Return the `count` texts of a cursor. Raises InvalidInput."""
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
        raise InvalidInput(Message("page.other_list"), hint=_HINT)
    return read[1:]


def _no_cursor(cursor: str) -> InvalidInput:
    shown = cursor if len(cursor) <= 100 else f"{cursor[:100]}…"
    return InvalidInput(Message("page.no_cursor", cursor=shown), hint=_HINT)
