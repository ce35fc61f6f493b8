"""What no text from outside may hold, and how a model's refusal of an entry is explained."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping

from pydantic import ValidationError

from core.domain.text import has_lone_surrogate

MAX_NAME_CHARS = 200
# What is wrong by the model's words, and by ours.
_NOT_OF_TYPE = {
    "string_type": "text",
    "string_unicode": "text",
    "tuple_type": "list",
    "dict_type": "object",
    "model_type": "object",
    "invalid-json-value": "JSON value",
}
_INVISIBLE = {"Cc", "Cf", "Zs", "Zl", "Zp"}


def text_problem(text: str) -> str | None:
    """Say what makes `text` impossible to store, or None. Right-to-left marks are fine."""
    if "\0" in text:
        return "holds a NUL character"
    if has_lone_surrogate(text):
        return "holds a lone surrogate, half of a character"
    return None


def json_problem(value: object) -> str | None:
    """Say what makes a JSON value impossible to store, or None."""
    return next((problem for text in texts_in(value) if (problem := text_problem(text))), None)


def texts_in(value: object) -> Iterator[str]:
    """Give every text of a JSON value, the keys of objects too."""
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
    """Say why `text` can be no id and no name, or None: those are looked up, so they are short."""
    return "is blank" if is_blank(text) else length_problem(text)


def length_problem(text: str) -> str | None:
    """Say that `text` is too long for an id or a name, or None."""
    if len(text) > MAX_NAME_CHARS:
        return f"has {len(text)} characters, more than {MAX_NAME_CHARS}"
    return None


def is_blank(text: str) -> bool:
    """Tell whether nothing in `text` can be seen."""
    return all(char.isspace() or unicodedata.category(char) in _INVISIBLE for char in text)


def explain(error: ValidationError) -> str:
    """Put a refusal in one line: field and reason, for each field."""
    return "; ".join(
        _explained(detail["type"], detail["loc"], detail["msg"]) for detail in error.errors()
    )


def _explained(kind: str, place: tuple[int | str, ...], message: str) -> str:
    field = ".".join(map(str, place))
    if kind == "missing":
        return f"{field} is missing"
    if kind == "extra_forbidden":
        return f"{field} is no known field"
    if kind in _NOT_OF_TYPE:
        return f"{field} is no {_NOT_OF_TYPE[kind]}"
    return f"{field}: {message[:1].lower()}{message[1:]}"
