"""Messages as data: a code and its parameters; what they say is in the catalogues (`locale`).

A `Message` is its English text: it can be logged, stored, compared and sent like any string. To
show it in another language its code and parameters are looked up again.
"""

from __future__ import annotations

import gettext
import re
from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:  # errors are imported by every command, pydantic takes 0.1 s
    from decimal import Decimal
    from pathlib import PurePath

    from pydantic import JsonValue

DOMAIN = "messages"
ENGLISH = "en"
FOLDER = Path(__file__).parent / "locale"
# Our own template: each text is one line, by its code.
_ENTRY = re.compile(r'^msgctxt "(.+)"\nmsgid "(.*)"$', re.MULTILINE)
_ESCAPED = re.compile(r"\\(.)")


def template(language: str, code: str) -> str | None:
    """Return the text of a code in a language, with places for its parameters; None without one."""
    if language == ENGLISH:
        return english().get(code)
    found = _catalogue(language).gettext(code)
    return None if found == code else found


@cache
def english() -> Mapping[str, str]:
    """Return all English texts by their codes."""
    entries = _ENTRY.findall((FOLDER / f"{DOMAIN}.pot").read_text("utf-8"))
    return {code: _ESCAPED.sub(_meant, text) for code, text in entries}


def _meant(escaped: re.Match[str]) -> str:
    return {"n": "\n", "t": "\t"}.get(escaped[1], escaped[1])


@cache
def _catalogue(language: str) -> gettext.NullTranslations:
    return gettext.translation(DOMAIN, FOLDER, languages=[language], fallback=True)


Parameter: TypeAlias = "str | int | float"
# What becomes a parameter. None would be shown as "None"; what is missing has a message of its own.
Given: TypeAlias = "Parameter | Decimal | PurePath | BaseException"


class Message(str):
    """The English text of a code with its parameters, which may be messages themselves.

    `code` is stable, dotted and unique; "" stands for several messages in a row. A code without a
    text is told by itself with its parameters: an error must not be lost for want of words.
    """

    __slots__ = ("code", "english", "parameters")
    code: str
    english: str
    parameters: Mapping[str, Parameter]

    def __new__(cls, code: str, /, **parameters: Given) -> Message:
        english = template(ENGLISH, code) or ": ".join([code, *map("{{{}!r}}".format, parameters)])
        return cls.of(code, english, parameters)

    @classmethod
    def of(cls, code: str, english: str, parameters: Mapping[str, Given]) -> Message:
        """Return a message with a template of its own: of another release, or made up of others."""
        taken = {name: _parameter(code, name, value) for name, value in parameters.items()}
        made = super().__new__(cls, english.format_map(taken))
        made.code, made.english, made.parameters = code, english, taken
        return made

    def __reduce__(self) -> tuple[object, ...]:
        return Message.of, (self.code, self.english, dict(self.parameters))

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
    return Message.of(f"term.{word}", str(word), {})


_PLAIN = frozenset((str, int, float, Message))


def _parameter(code: str, name: str, value: Given | None) -> Parameter:
    assert value is not None, f"the message {code!r} is made without its {name!r}"
    if type(value) in _PLAIN:
        return value  # type: ignore[return-value]
    if isinstance(value, StrEnum):
        return term(value.value)
    if isinstance(value, OSError):  # its first argument is a number
        return value.strerror or str(value)
    if isinstance(value, BaseException) and value.args:
        value = value.args[0]
    return value if isinstance(value, str | int | float) else str(value)


def joined(texts: Iterable[str], separator: str = "; ") -> str:
    """Join texts; messages among them keep their codes and parameters."""
    parts = [*texts]
    if not any(isinstance(part, Message) for part in parts):
        return separator.join(parts)
    named = {f"part{number}": part for number, part in enumerate(parts)}
    return Message.of("", separator.join(f"{{{name}}}" for name in named), named)


def translated(language: str, text: str) -> str:
    """Return a text in a language; plain texts and what has no translation stay as they are."""
    return written(text, lambda code: template(language, code))


def written(text: str, template_of: Callable[[str], str | None]) -> str:
    """Translate a text using another language's templates, looked up by code.

    Untranslated messages and plain texts stay English.
    """
    if not isinstance(text, Message):
        return text
    found = template_of(text.code) if text.code else text.english
    if found is None:
        return str(text)
    parameters = {
        name: written(value, template_of) if isinstance(value, str) else value
        for name, value in text.parameters.items()
    }
    try:
        return found.format_map(parameters)
    except (KeyError, ValueError):  # stored by a release whose template had other parameters
        return str(text)


def said(error: BaseException) -> str:
    """Return an exception's message; `str()` of the exception would drop its code."""
    return error.args[0] if error.args and isinstance(error.args[0], str) else str(error)


def cut(text: str, most: int) -> str:
    """Cut a text to at most `most` characters; a message that is cut becomes plain text."""
    return text if len(text) <= most else text[:most]


# What a log line or an event may tell: parameters that name parts of the program, its settings and
# whom it talks to, and all of what says that something cannot be reached.
_TOLD = frozenset(
    {
        *("argument", "function", "header", "host", "issuer", "kind", "kinds"),
        *("language", "meant", "mode", "model", "op", "operation", "option", "outcome", "package"),
        *("policy", "port", "provider", "role", "rule", "schema", "setting", "step", "system"),
        *("tenant", "tool", "type", "variable", "version", "zone"),
    }
)
_TOLD_WHOLE = (
    *("budget.", "call.failed", "database.down", "database.no_schema", "database.passing"),
    *("database.refuses", "embedding.no_package", "file.unreadable", "file.unwritable"),
    *("jobs.lost", "mcp.no_answer", "model.no_package", "model.unreachable"),
    *("sandbox.not_started", "serve.no_port", "settings.", "sign_in.", "term."),
)
_MADE_ID = re.compile(r"(?:[a-z]{1,8}-)?[0-9a-f]{12,16}(?:-[0-9a-f]{16})?", re.ASCII)
_PLAIN_NAME = re.compile(r"[\w.:/+@-]{1,200}", re.ASCII)
QUOTED = "…"  # stands for what is left out


def without_content(text: str) -> str:
    """Return what a message says without what it quotes, such as names, values, others' words.

    Numbers, ids, and what names parts of the program, stay; of a text that is no message nothing
    does.
    """
    if not isinstance(text, Message):
        return QUOTED if text else text
    is_whole = text.code.startswith(_TOLD_WHOLE)
    told = {name: _told(name, value, is_whole) for name, value in text.parameters.items()}
    return Message.of(text.code, text.english, told)


def told_id(value: str | None) -> str | None:
    """Return an id as an event may tell it: one that was made here, no words of others."""
    return value if value is None or _MADE_ID.fullmatch(value) else QUOTED


def _told(name: str, value: Parameter, is_whole: bool) -> Parameter:
    if isinstance(value, Message):
        return without_content(value)
    return value if is_whole or _is_told(name, value) else QUOTED


def _is_told(name: str, value: Parameter) -> bool:
    if not isinstance(value, str) or not value:
        return True
    if name == "id":  # one that was made here: models name ids that are words of others
        return told_id(value) == value
    return name in _TOLD and _PLAIN_NAME.fullmatch(value) is not None
