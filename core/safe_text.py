"""Text of others made safe for a terminal: no control, bidirectional or invisible characters."""

from __future__ import annotations

import json
import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pydantic import JsonValue

_KEPT = "\n\t"
_ESCAPED_CATEGORIES = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
_JOINERS = "\u200c\u200d"


def printable(text: str, *, keep: str = _KEPT) -> str:
    r"""Escape what a terminal would act on, as `\x1b` or `\u202e`; `keep` stays as it is.

    Joiners stay, since emoji and several scripts need them between letters.
    """
    if _is_plain(text, keep):
        return text
    return "".join(char if _is_safe(char, keep) else _escape(char) for char in text)


def one_line(text: str) -> str:
    r"""Give `text` on one line: white space becomes one blank, the rest as in `printable`."""
    return printable(" ".join(text.split()), keep="")


def has_lone_surrogate(text: str) -> bool:
    """Tell whether `text` holds half a character, which no UTF-8 can carry."""
    return any("\ud800" <= char <= "\udfff" for char in text)


def to_json(value: JsonValue, *, indent: int | None = 2) -> str:
    """Give `value` as JSON that is safe to show."""
    return escape_json(json.dumps(value, ensure_ascii=False, indent=indent))


def escape_json(text: str) -> str:
    """Escape in JSON what a terminal would act on; it still says the same."""
    if _is_plain(text, "\n"):
        return text
    return "".join(
        char if _is_safe(char, "\n") else json.dumps(char)[1:-1].replace("\x7f", "\\u007f")
        for char in text
    )


def _is_plain(text: str, keep: str) -> bool:
    """Tell fast of most texts that they are safe: what is printable is in no escaped category."""
    for char in keep:
        text = text.replace(char, "")
    return text.isprintable()


def _is_safe(char: str, keep: str) -> bool:
    if char in keep or char in _JOINERS:
        return True
    return unicodedata.category(char) not in _ESCAPED_CATEGORIES


def _escape(char: str) -> str:
    code = ord(char)
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
