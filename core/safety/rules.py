"""What a rule of the screen is: one way to say something harmful."""

from __future__ import annotations

import re
from typing import NamedTuple


class Rule(NamedTuple):
    """One way to say something harmful.

    `pattern` is looked for in the lower-case text, `needs` and `unless` in the clause around it;
    `unless` without the match itself, `but` in the match alone. With `bounded` a clause that names
    a limit is a threshold, which is told and not held.
    """

    code: str
    pattern: re.Pattern[str]
    needs: re.Pattern[str] | None = None
    unless: re.Pattern[str] | None = None
    bounded: bool = False
    but: re.Pattern[str] | None = None


def words(text: str) -> tuple[str, ...]:
    """Return words that are parted by bars."""
    return tuple(text.split("|"))


def expression(pattern: str) -> re.Pattern[str]:
    """Return a compiled pattern."""
    return re.compile(pattern)
