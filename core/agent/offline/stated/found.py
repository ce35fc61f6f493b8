"""Conditions where they stand in a sentence."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from core.agent.offline.stated.statement import Condition


@dataclass(frozen=True)
class Found:
    """A condition where it stands; `link` is how it goes on, `head` what it says it is of."""

    start: int
    end: int
    one: Condition
    link: str = "when"
    head: str = ""


def at_words(pattern: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    """Yield the matches of a pattern that begin at a word, each after the one before."""
    at = 0
    for word in re.finditer(r"(?<!\S)\S", text):
        if word.start() >= at and (match := pattern.match(text, word.start())):
            yield match
            at = match.end()
