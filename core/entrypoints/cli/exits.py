"""Exit codes and how a failure is reported: the one module that maps errors to both."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import typer

from core.domain.errors import InvalidInput, SkillWorkerError
from core.domain.messages import Message
from core.domain.text import code_of, parameters_of

if TYPE_CHECKING:
    from pydantic import JsonValue

OK = 0
FAILED = 1
USAGE = 2
DEPENDENCY = 3
CONFIGURATION = 4
NOT_FOUND = 5
EDITED = 6  # files that are to be written were changed by hand
_SIGNALLED = 128  # shells add it to the signal's number

_BY_KIND = {
    "usage": USAGE,
    "configuration": CONFIGURATION,
    "dependency": DEPENDENCY,
    "database": DEPENDENCY,
    "skill_api": DEPENDENCY,
    "mcp": DEPENDENCY,
    "source": DEPENDENCY,
    "model": DEPENDENCY,
    "budget": DEPENDENCY,
    "busy": DEPENDENCY,
    "not_found": NOT_FOUND,
    "stale": NOT_FOUND,
    "decided": NOT_FOUND,
}
_DEBUG_HINT = Message("cli.hint_debug")


class WrongCall(InvalidInput):
    """An option of the command is missing or has an impossible value; the message names it."""

    kind = "usage"


@contextmanager
def named_by_option(command: str, options: Mapping[str, str]) -> Iterator[None]:
    """Report which option of `command` a refused field came from. Raises WrongCall."""
    try:
        yield
    except InvalidInput as error:
        field, _, _ = error.message.partition(" ")
        if field not in options:
            raise
        message = _renamed(error.message, field, options[field])
        raise WrongCall(message, hint=see_help(command)) from None


def see_help(command: str) -> Message:
    """Return the hint to look at the help of a command."""
    return Message("cli.see_help", command=command)


def _renamed(text: str, field: str, option: str) -> str:
    """Return a text that begins with the name of a field as one that begins with an option's."""
    if not isinstance(text, Message):
        return option + text.removeprefix(field)
    if text.english.startswith(field):
        return Message.of(text.code, option + text.english.removeprefix(field), text.parameters)
    given = {name: option if value == field else value for name, value in text.parameters.items()}
    return Message.of(text.code, text.english, given)


@dataclass(frozen=True)
class Failure:
    """Why a command failed; `kind` is a kind of `core.domain.errors`, `usage` or `unexpected`."""

    kind: str
    message: str
    hint: str = ""

    @property
    def data(self) -> JsonValue:
        """Return what `--json` prints under `error`."""
        return {
            "kind": self.kind,
            "message": self.message,
            "hint": self.hint,
            "code": code_of(self.message),
            "params": parameters_of(self.message),
        }

    @property
    def exit_code(self) -> int:
        """The exit code that belongs to `kind`."""
        return exit_code_of(self.kind)


def exit_code_of(kind: str) -> int:
    """Return the exit code for a kind of failure: 1 if it has none of its own."""
    return _BY_KIND.get(kind, FAILED)


def exit_code_of_signal(number: int) -> int:
    """Return the exit code of a command that a signal ended, as in shells: 130, 143."""
    return _SIGNALLED + number


def describe(error: Exception) -> Failure:
    """Return what went wrong; an unexpected error reveals the name of its type and no more."""
    known = next(_known(error), None)
    if known is not None:
        return Failure(known.kind, known.message, known.hint)
    if isinstance(error, typer.TyperException):
        message = error.format_message().replace("Value error, ", "")
        return Failure("usage", message, _usage_hint(error))
    return Failure(
        "unexpected",
        Message("error.unexpected", type=type(error).__name__, why=error),
        _DEBUG_HINT,
    )


def _known(error: BaseException) -> Iterator[SkillWorkerError]:
    if isinstance(error, SkillWorkerError):
        yield error
    elif isinstance(error, BaseExceptionGroup):
        for part in error.exceptions:
            yield from _known(part)


def _usage_hint(error: typer.TyperException) -> str:
    context: typer.Context | None = getattr(error, "ctx", None)
    command = context.command_path if context else "skill-worker"
    return Message("cli.help_of", command=command)
