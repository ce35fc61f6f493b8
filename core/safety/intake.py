"""Feedback, requests and answers without secrets: every text in them, before any is stored."""

from __future__ import annotations

from collections.abc import Mapping
from operator import is_
from typing import Protocol, TypeVar, cast

from pydantic import BaseModel, JsonValue

from core.domain.errors import InvalidInput
from core.domain.messages import Message
from core.domain.models import Finding, MaskedFeedback, NewFeedback
from core.safety.masking import Masked, mask

# Names by which a model and the gate find things again: masked they would be others.
IDS = frozenset(
    {"target_id", "skill_id", "skill_ids", "related_skill_ids", "listed_by"}
    | {"memory_id", "rule_id", "knowledge_id", "knowledge_ids"}
)
_SHORTEST_NUMBER = 10**11  # an integer that may be the number of a person or a card
_M = TypeVar("_M", bound=BaseModel)


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
