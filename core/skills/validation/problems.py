"""What is wrong with a skill: one rule that it breaks, where, and what to do."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

ERROR = "error"
WARNING = "warning"
SKILL_MD = "SKILL.md"


class Problem(NamedTuple):
    """A rule that a skill breaks.

    `code` is the rule's stable name, `severity` `error` or `warning`, `path` the file it is about
    (empty: the folder), `hint` what to do.
    """

    code: str
    severity: str
    path: str
    message: str
    hint: str = ""


def errors_of(problems: Iterable[Problem]) -> list[Problem]:
    """Return the problems that make a skill invalid."""
    return [problem for problem in problems if problem.severity == ERROR]


def shown(path: str) -> str:
    """Return a path for a message: quoted, escaped and not too long."""
    return repr(cut(path))


def cut(text: str) -> str:
    """Return the beginning of a text, as much as a message should carry."""
    return text if len(text) <= 80 else text[:77] + "..."
