"""Checks that all outside text must pass, and readable validation errors."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from pydantic import ValidationError

from core.domain.messages import Message, joined
from core.domain.models.moments import MOMENT_ERROR
from core.domain.text import has_lone_surrogate

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

MAX_NAME_CHARS = 200
NONE_OF = "none_of"  # a type of error of our own
# pydantic's error types, and what we call the type that was expected.
_NOT_OF_TYPE = {
    "string_type": "text",
    "string_unicode": "text",
    "tuple_type": "list",
    "dict_type": "object",
    "model_type": "object",
    "invalid-json-value": "JSON value",
}
_CHOICES = {"enum", "literal_error"}
_GIVEN_CHARS = 80
_INVISIBLE = {"Cc", "Cf", "Zs", "Zl", "Zp"}


def text_problem(text: str) -> str | None:
    """Return what makes `text` impossible to store, or None. Right-to-left marks are fine."""
    if "\0" in text:
        return Message("text.nul")
    if has_lone_surrogate(text):
        return Message("text.surrogate")
    return None


def json_problem(value: object) -> str | None:
    """Return what makes a JSON value impossible to store, or None."""
    return next((problem for text in texts_in(value) if (problem := text_problem(text))), None)


def texts_in(value: object) -> Iterator[str]:
    """Yield every text in a JSON value, keys of objects included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from texts_in(key)
            yield from texts_in(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from texts_in(inner)


def name_problem(text: str) -> str | None:
    """Return why `text` cannot be an id or name, or None. Ids are index keys, hence short."""
    return Message("text.blank") if is_blank(text) else length_problem(text)


def length_problem(text: str) -> str | None:
    """Return that `text` is too long for an id or a name, or None."""
    if len(text) > MAX_NAME_CHARS:
        return Message("text.long", n=len(text), most=MAX_NAME_CHARS)
    return None


def is_blank(text: str) -> bool:
    """Whether `text` has no visible character."""
    return all(char.isspace() or unicodedata.category(char) in _INVISIBLE for char in text)


def explain(error: ValidationError) -> str:
    """Format a validation error on one line: field and reason, for each field.

    A list that is too short only for its wrong items is not mentioned: pydantic counts them out.
    """
    details = error.errors(include_url=False)
    around = {detail["loc"][:end] for detail in details for end in range(len(detail["loc"]))}
    return joined(
        _explained(detail["type"], detail["loc"], detail["msg"], _context(detail))
        for detail in details
        if not (detail["type"] == "too_short" and detail["loc"] in around)
    )


def _context(detail: ErrorDetails) -> Mapping[str, object]:
    """Return the context of a problem; of a value that is none of several, with that value."""
    context = detail.get("ctx", {})
    if detail["type"] in _CHOICES and isinstance(detail["input"], str | int | float):
        return {"given": repr(detail["input"])[:_GIVEN_CHARS], "known": context["expected"]}
    return context


def of_field(field: str, problem: str) -> Message:
    """Return the problem of a value as that of the field that has it."""
    return Message("field.wrong", field=field, why=problem)


def _explained(
    kind: str, loc: tuple[int | str, ...], message: str, context: Mapping[str, object]
) -> str:
    field = ".".join(map(str, loc))
    if kind == NONE_OF or (kind in _CHOICES and "given" in context):
        given, known = str(context["given"]), str(context["known"])
        return Message("field.none_of", field=field, given=given, known=known)
    if kind == MOMENT_ERROR:
        return Message("field.wrong", field=field, why=str(context["why"]))
    if kind == "missing":
        return Message("field.missing", field=field)
    if kind == "extra_forbidden":
        return Message("field.unknown", field=field)
    if kind in _NOT_OF_TYPE:
        return Message("field.type", field=field, type=_NOT_OF_TYPE[kind])
    why = f"{message[:1].lower()}{message[1:]}"
    return Message("field.of_pydantic", field=field, why=why) if field else why
