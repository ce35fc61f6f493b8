"""Messages of the program in the visitor's language.

Checks, refusals and receipts are worded in English wherever they are made, stored and logged. The
console shows those that `messages.yaml` knows in Korean: each is parsed back into the parts it was
composed of.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

import yaml
from pydantic import TypeAdapter

from core.entrypoints.console.language import Language, words

_PLACE = re.compile(r"\{(\w+)\}")
_BETWEEN = "; "  # between messages that are shown together
_DEPTH = 4  # of messages within messages
_LONGEST = 4_000  # characters; a longer text quotes somebody
_FILE = TypeAdapter[dict[str, list[dict[str, str]]]](dict[str, list[dict[str, str]]])


@dataclass(frozen=True)
class Message:
    """A message with placeholders for what it names, between the texts that are `fixed`."""

    fixed: Sequence[str]
    places: Sequence[str]
    korean: str

    def values(self, text: str) -> Mapping[str, str] | None:
        """Return the values of its placeholders, None if `text` is another message.

        Each placeholder matches as little as possible, so that a hostile text is scanned only once.
        """
        if not self.places:
            return {} if text == self.fixed[0] else None
        first, *middle, last = self.fixed
        at, end = len(first), len(text) - len(last)
        if at > end or not (text.startswith(first) and text.endswith(last)):
            return None
        found = []
        for fixed in middle:
            stop = text.find(fixed, at, end)
            if stop < 0:
                return None
            found.append(text[at:stop])
            at = stop + len(fixed)
        return dict(zip(self.places, [*found, text[at:end]], strict=True))


def translated(language: Language, text: str) -> str:
    """Return messages of the program in a language; an unknown one is returned unchanged."""
    if language is Language.EN or len(text) > _LONGEST:
        return text
    return _several(text, _DEPTH)


@cache
def messages(section: str) -> Sequence[Message]:
    """Return the messages of `sentences` or `parts`, in the order in which they are tried."""
    text = (resources.files("core.entrypoints.console") / "messages.yaml").read_text("utf-8")
    entries = _FILE.validate_python(yaml.safe_load(text))[section]
    return [
        Message(_PLACE.split(entry["en"])[::2], _PLACE.findall(entry["en"]), entry["ko"])
        for entry in entries
    ]


def _several(text: str, depth: int, *, inside: bool = False) -> str:
    pieces = text.split(_BETWEEN)
    found = [_one(piece, depth, inside=inside) for piece in pieces]
    if None in found and (whole := _one(text, depth, inside=inside)) is not None:
        return whole
    return _BETWEEN.join(one or piece for one, piece in zip(found, pieces, strict=True))


def _one(text: str, depth: int, *, inside: bool) -> str | None:
    for section in ("sentences", "parts") if inside else ("sentences",):
        for message in messages(section):
            values = message.values(text)
            if values is not None:
                placed = {name: _placed(name, value, depth) for name, value in values.items()}
                return message.korean.format(**placed)
    named = words("common").get(text) if inside else None
    return named[Language.KO] if named else None


def _placed(name: str, value: str, depth: int) -> str:
    return _several(value, depth - 1, inside=True) if name.isupper() and depth else value
