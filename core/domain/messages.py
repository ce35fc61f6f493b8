"""What the program says, as data: a code and its parameters beside the English made of them.

A `Message` is its English text, so that it is logged, stored, compared and sent like any other.
Whoever shows it in another language asks its code and parameters (`core/entrypoints/locale`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:  # errors are imported by every command, pydantic takes 0.1 s
    from pydantic import JsonValue

Parameter: TypeAlias = "str | int | float"


class Message(str):
    """English text that was written from a template with parameters, messages among them.

    `code` is the stable name of the template, dotted, and unique to it; "" stands for several
    messages in a row.
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
        """Return what `models.messages.read_message` makes the same message of."""
        parameters = {
            name: value.to_json() if isinstance(value, Message) else value
            for name, value in self.parameters.items()
        }
        return {"code": self.code, "english": self.english, "parameters": {**parameters}}


def term(word: str) -> Message:
    """Name a word of a closed set, such as a state or a kind; its code is the word itself.

    A member of an enumeration that is a parameter of a message is named so without this.
    """
    return Message(f"term.{word}", str(word))


def _parameter(value: object) -> Parameter:
    if isinstance(value, StrEnum):
        return term(value.value)
    if isinstance(value, BaseException) and value.args:
        value = value.args[0]
    return value if isinstance(value, str | int | float) else str(value)


def joined(texts: Iterable[str], separator: str = "; ") -> str:
    """Join texts, the messages among them remaining what they are."""
    parts = [*texts]
    if not any(isinstance(part, Message) for part in parts):
        return separator.join(parts)
    named = {f"part{number}": part for number, part in enumerate(parts)}
    return Message("", separator.join(f"{{{name}}}" for name in named), **named)


def written(text: str, template_of: Callable[[str], str | None]) -> str:
    """Write a text from the templates of another language, by code.

    What has none there, and what is no message, stays English.
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
    """Return what an exception says; `str` of it would forget a message's code."""
    return error.args[0] if error.args and isinstance(error.args[0], str) else str(error)


def cut(text: str, most: int) -> str:
    """Return a text of at most `most` characters; only one that is cut is no message any more."""
    return text if len(text) <= most else text[:most]
