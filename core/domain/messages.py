"""Messages as data: a code and its parameters beside the English text made from them.

A `Message` is its English text: it can be logged, stored, compared and sent like any string. To
show it in another language its code and parameters are looked up (`core/entrypoints/locale`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:  # errors are imported by every command, pydantic takes 0.1 s
    from pydantic import JsonValue

Parameter: TypeAlias = "str | int | float"


class Message(str):
    """English text formatted from a template with parameters, which may be messages themselves.

    `code` is the template's stable, dotted, unique name; "" stands for several messages in a row.
    """

    __slots__ = ("code", "english", "parameters")
    code: str
    english: str
    parameters: Mapping[str, Parameter]

    def __new__(cls, code: str, english: str, /, **parameters: object) -> Message:
        taken = {name: _parameter(value) for name, value in parameters.items()}
        made = super().__new__(cls, english.format_map(taken))
        made.code, made.english, made.parameters = code, english, taken
        return made

    def __getnewargs_ex__(self) -> tuple[tuple[str, str], dict[str, Parameter]]:
        return (self.code, self.english), dict(self.parameters)

    def to_json(self) -> dict[str, JsonValue]:
        """Return the JSON from which `models.messages.read_message` restores this message."""
        parameters = {
            name: value.to_json() if isinstance(value, Message) else value
            for name, value in self.parameters.items()
        }
        return {"code": self.code, "english": self.english, "parameters": {**parameters}}


def term(word: str) -> Message:
    """Return a message for a word of a closed set, such as a state; its code is the word itself.

    Members of an enumeration passed as parameters are converted automatically.
    """
    return Message(f"term.{word}", str(word))


def _parameter(value: object) -> Parameter:
    if isinstance(value, StrEnum):
        return term(value.value)
    if isinstance(value, BaseException):
        value = said(value)
    return value if isinstance(value, str | int | float) else str(value)


def joined(texts: Iterable[str], separator: str = "; ") -> str:
    """Join texts; messages among them keep their codes and parameters."""
    parts = [*texts]
    if len(parts) == 1:
        return parts[0]
    if not any(isinstance(part, Message) for part in parts):
        return separator.join(parts)
    named = {f"part{number}": part for number, part in enumerate(parts)}
    return Message("", separator.join(f"{{{name}}}" for name in named), **named)


def written(text: str, template_of: Callable[[str], str | None]) -> str:
    """Translate a text using another language's templates, looked up by code.

    Untranslated messages and plain texts stay English.
    """
    if not isinstance(text, Message):
        return text
    template = template_of(text.code) if text.code else text.english
    if template is None:
        return str(text)
    parameters = {
        name: written(value, template_of) if isinstance(value, str) else value
        for name, value in text.parameters.items()
    }
    try:
        return template.format_map(parameters)
    except (KeyError, ValueError):  # stored by a release whose template had other parameters
        return str(text)


def said(error: BaseException) -> str:
    """Return an exception's message; `str()` of the exception would drop its code."""
    first = error.args[0] if error.args else ""
    if isinstance(first, Message):
        return first
    return first if isinstance(first, str) and first == str(error) else str(error)


def cut(text: str, most: int) -> str:
    """Cut a text to at most `most` characters; a message that is cut becomes plain text."""
    return text if len(text) <= most else text[:most]
