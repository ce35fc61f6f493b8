"""Checks that all outside text must pass, and readable validation errors."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from pydantic import ValidationError

from core.domain.messages import Message, joined, said
from core.domain.models.moments import MOMENT_ERROR
from core.domain.text import has_lone_surrogate

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

MAX_NAME_CHARS = 200
NONE_OF = "none_of"  # a type of error of our own
# The type that was expected, by pydantic's types of errors.
_NOT_OF_TYPE = {
    kind: wanted
    for wanted, kinds in {
        Message("type.text"): "string_type string_unicode string_sub_type",
        Message("type.whole_number"): "int_type int_parsing int_parsing_size int_from_float",
        Message(
            "type.number"
        ): "float_type float_parsing finite_number decimal_type decimal_parsing",
        Message("type.truth"): "bool_type bool_parsing",
        Message("type.list"): "list_type tuple_type set_type frozen_set_type iterable_type",
        Message("type.object"): "dict_type mapping_type model_type model_attributes_type",
        Message("type.json"): "invalid-json-value",
    }.items()
    for kind in kinds.split()
}
_BOUNDS = {
    "greater_than": ">",
    "greater_than_equal": ">=",
    "less_than": "<",
    "less_than_equal": "<=",
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
        explain_one(detail)
        for detail in details
        if not (detail["type"] == "too_short" and detail["loc"] in around)
    )


def of_field(field: str, problem: str) -> Message:
    """Return the problem of a value as that of the field that has it."""
    return Message("field.wrong", field=field, why=problem)


def explain_one(detail: ErrorDetails) -> str:
    """Return one problem of a validation error: its field, and the reason in words of ours."""
    kind, field = detail["type"], ".".join(map(str, detail["loc"]))
    context, given = detail.get("ctx", {}), _given(detail["input"])
    if kind == NONE_OF or (kind in _CHOICES and given):
        known = str(context.get("known", context.get("expected")))
        return Message("field.none_of", field=field, given=context.get("given", given), known=known)
    if kind == MOMENT_ERROR:
        return Message("field.wrong", field=field, why=str(context["why"]))
    if kind == "missing":
        return Message("field.missing", field=field)
    if kind == "extra_forbidden":
        return Message("field.unknown", field=field)
    if kind in _NOT_OF_TYPE:
        return Message("field.type", field=field or Message("field.whole"), type=_NOT_OF_TYPE[kind])
    if kind in _BOUNDS:
        bound = f"{_BOUNDS[kind]} {next(iter(context.values()))}"
        return Message("field.out_of_bounds", field=field or Message("field.whole"), bound=bound)
    why = detail["msg"]
    ours = context.get("error")
    why = said(ours) if isinstance(ours, ValueError) else f"{why[:1].lower()}{why[1:]}"
    return Message("field.of_pydantic", field=field, why=why) if field else why


def _given(value: object) -> str:
    """Return a value as an error shows it; "" where it is no single one."""
    return repr(value)[:_GIVEN_CHARS] if isinstance(value, str | int | float) else ""
