"""Secrets and numbers of persons, masked before a text is stored anywhere.

Every pattern starts where a token starts and is bounded, so that no text takes more than linear
time.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import is_
from typing import Protocol, TypeVar, cast

from pydantic import BaseModel, JsonValue

from core.domain.errors import InvalidInput
from core.domain.messages import Message
from core.domain.models import Finding, MaskedFeedback, NewFeedback, ScreenSeverity
from core.safety.findings import PLACEHOLDER, finding
from core.safety.person_numbers import NUMBERS, Hit, persons
from core.safety.secrets import LONG, SIGNS, secrets

DIGITS = re.compile(
    r"[0-9０-９](?:[^0-9０-９a-zA-Z\n]{0,8}[0-9０-９A-Za-z]){6}"
    r"|(?<![A-Za-z0-9])(?=[0-9]*[A-Z])(?=[A-Z]*[0-9])[A-Z0-9]{8,20}(?![A-Za-z0-9])"
)
# Written otherwise, meant the same: full-width letters and digits, dashes, blanks. One for one.
_FOLDED: dict[int, int | str] = {
    **{code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)},
    **dict.fromkeys((0x2010, 0x2011, 0x2012, 0x2013, 0x2014, 0x2212), "-"),
    **dict.fromkeys((0xA0, 0x2002, 0x2003, 0x2009, 0x202F, 0x3000), " "),
}
_LINE = 1000
_INVISIBLE = re.compile(
    "[\u00ad\u180e\u200b-\u200f\u2060-\u2064\ufeff\u202a-\u202e\u2066-\u2069\U000e0000-\U000e01ef]+"
)
# Names by which a model and the gate find things again: masked they would be others.
IDS = frozenset(
    {"target_id", "skill_id", "skill_ids", "related_skill_ids", "listed_by"}
    | {"memory_id", "rule_id", "knowledge_id", "knowledge_ids"}
)
_SHORTEST_NUMBER = 10**11  # an integer that may be the number of a person or a card
_M = TypeVar("_M", bound=BaseModel)


@dataclass(frozen=True)
class Masked:
    """A text without secrets, and what was taken out: spans of the original, quotes masked.

    All findings have the severity MASK.
    """

    text: str
    findings: tuple[Finding, ...] = ()


def mask(text: str, *, place: str = "") -> Masked:
    """Return a text with each secret and number of a person replaced by `[masked:what]`.

    Masking again changes nothing. What is masked is known by `screen` for what it was: the
    number of a person is held there, a secret is noted. Never raises on any text.
    """
    hits = sensitive(text)
    if not hits:
        return Masked(text)
    parts, at = [], 0
    for hit in hits:
        parts += [text[at : hit.start], f"[masked:{hit.label}]"]
        at = hit.end
    clear = "".join([*parts, text[at:]])
    return Masked(clear, tuple(_findings(clear, hits, place)))


def _findings(clear: str, hits: Sequence[Hit], place: str) -> Iterator[Finding]:
    """Yield the findings of what was masked; the line they are known by is the masked one."""
    shift = 0
    for hit in hits:
        quote = f"[masked:{hit.label}]"
        at = hit.start + shift
        shift += len(quote) - (hit.end - hit.start)
        earliest = max(0, at - _LINE)
        begin = max(earliest, clear.rfind("\n", earliest, at) + 1)
        end = clear.find("\n", at, at + _LINE)
        yield finding(
            code_of(hit.label),
            (hit.start, hit.end),
            ScreenSeverity.MASK,
            quote=quote,
            context=clear[begin : end if end >= 0 else at + _LINE],
            place=place,
        )


def code_of(label: str) -> str:
    """Return the code of the finding of what is masked under a label."""
    name = label.replace("-", "_")
    return f"personal_id.{name}" if name in NUMBERS else f"secret.{name}"


def sensitive(text: str) -> list[Hit]:
    """Return what of a text must not be stored, in order, without overlaps."""
    plain, places = without_invisible(text if text.isascii() else text.translate(_FOLDED))
    lowered = plain.lower()
    if len(lowered) != len(plain):
        lowered = plain
    if not is_worth_a_look(plain, lowered):
        return []
    found = [*secrets(plain, lowered), *persons(plain, lowered)]
    barriers = [(one.start(), one.end()) for one in PLACEHOLDER.finditer(plain)]
    ends = [end for _, end in barriers]

    def is_masked(hit: Hit) -> bool:
        at = bisect_right(ends, hit.start)
        return at < len(barriers) and barriers[at][0] < hit.end

    found = [hit for hit in found if not is_masked(hit)]
    return [
        Hit(places[hit.start], places[hit.end - 1] + 1, hit.label) if places else hit
        for hit in _apart(found)
    ]


def is_worth_a_look(plain: str, lowered: str) -> bool:
    """Whether a text may contain what is masked; without it a tenth of the time is enough."""
    return any(map(lowered.__contains__, SIGNS)) or bool(DIGITS.search(plain) or LONG.search(plain))


def without_invisible(text: str) -> tuple[str, list[int]]:
    """Return a text as it is read, and where each character was if some were left out."""
    if text.isascii() or not _INVISIBLE.search(text):
        return text, []
    places: list[int] = []
    at = 0
    for one in _INVISIBLE.finditer(text):
        places += range(at, one.start())
        at = one.end()
    places += range(at, len(text))
    return _INVISIBLE.sub("", text), places


def _apart(hits: Sequence[Hit]) -> Iterator[Hit]:
    """Yield hits in order; of those that overlap the first, as long as all together."""
    last: Hit | None = None
    for hit in sorted(hits, key=lambda one: (one.start, -one.end)):
        if last is not None and hit.start < last.end:
            last = Hit(last.start, max(last.end, hit.end), last.label)
            continue
        if last is not None:
            yield last
        last = hit
    if last is not None:
        yield last


class MaskText(Protocol):
    """Masks a text."""

    def __call__(self, text: str, *, place: str) -> Masked:
        """Return the text without what must not be stored."""


def masked_model(model: _M, mask: MaskText = mask) -> _M:
    """Return a model with every text in it masked, and every file that is text; ids stay."""
    made = _Masker(IDS, mask).masked(model)
    assert isinstance(made, type(model))
    return made


def masked_call(args: JsonValue) -> JsonValue:
    """Return the arguments of a tool call with every text in them masked; ids stay."""
    return cast("JsonValue", _Masker(IDS).masked(args))


def masked_feedback(piece: NewFeedback) -> MaskedFeedback:
    """Return a piece of feedback as it may be stored; of one that is, the same.

    The place of a finding is "" in the content, else a path as `output.items.0.note`. Raises
    InvalidInput where a secret is the name of something: it would not be found again.
    """
    if isinstance(piece, MaskedFeedback):
        return piece
    for name in ("id", "in_reply_to", "thread"):
        _refuse_secret(name, getattr(piece, name))
    return masked_again(MaskedFeedback.model_construct(**dict(piece)), mask)


def masked_again(piece: MaskedFeedback, mask: MaskText) -> MaskedFeedback:
    """Return a piece with all that was said in it masked, and what was found beside the rest."""
    masker = _Masker(mask=mask)
    said = {
        name: masker.masked(getattr(piece, name), "" if name == "content" else name)
        for name in ("content", "task", "author", "events", "output")
    }
    found = (*piece.masked, *masker.found)
    return MaskedFeedback.model_construct(**{**dict(piece), **said, "masked": found})


def _refuse_secret(name: str, value: str | None) -> None:
    """Raise InvalidInput for a secret; digits alone may be anybody's count of something."""
    if value is None or value.isdecimal():
        return
    found = mask(value).findings
    if found:
        raise InvalidInput(Message("screen.secret_name", field=name, what=found[0].text))


class _Masker:
    """Masks all texts of a value, but for those under `ids`; `found` is what was taken out.

    What has nothing to mask in it is returned as it is, not as a copy.
    """

    def __init__(self, ids: frozenset[str] = frozenset(), mask: MaskText = mask) -> None:
        self.found: list[Finding] = []
        self._ids = ids
        self._mask = mask

    def masked(self, value: object, place: str = "") -> object:
        if type(value) is str:  # neither a member of an enumeration nor a message
            return self._text(value, place)
        if isinstance(value, bytes):
            return self._file(value, place)
        if isinstance(value, int) and abs(value) >= _SHORTEST_NUMBER:
            text = self._text(str(value), place)
            return value if text == str(value) else text
        if isinstance(value, BaseModel):
            return self._model(value, place)
        if isinstance(value, Mapping):
            return self._mapping(value, place)
        if isinstance(value, list | tuple):
            parts = [self.masked(part, _below(place, str(at))) for at, part in enumerate(value)]
            return value if all(map(is_, parts, value)) else type(value)(parts)
        return value

    def _text(self, text: str, place: str) -> str:
        made = self._mask(text, place=place)
        self.found += made.findings
        return made.text if made.findings else text

    def _file(self, data: bytes, place: str) -> bytes:
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError:
            return data
        made = self._text(text, place)
        return data if made is text else made.encode("utf-8")

    def _model(self, model: BaseModel, place: str) -> BaseModel:
        fields = {name: part for name, part in model if name not in self._ids}
        made = {name: self.masked(part, _below(place, name)) for name, part in fields.items()}
        update = {name: part for name, part in made.items() if part is not fields[name]}
        return model.model_copy(update=update) if update else model

    def _mapping(self, data: Mapping[str, object], place: str) -> Mapping[str, object]:
        made: dict[str, object] = {}
        for key, part in data.items():
            is_id = key in self._ids
            made[self._text(key, place)] = part if is_id else self.masked(part, _below(place, key))
        is_same = all(map(is_, made, data)) and all(map(is_, made.values(), data.values()))
        return data if is_same and len(made) == len(data) else made


def _below(place: str, name: str) -> str:
    return f"{place}.{name}" if place else name
