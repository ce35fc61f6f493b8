"""Which terms, names and values a statement has, so that two statements can be compared."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Sequence
from functools import cached_property, lru_cache

from core.knowledge.duplicates import quantity_patterns as written
from core.knowledge.duplicates.quantities import Quantity, quantities
from core.knowledge.duplicates.words import (
    FUNCTION_WORDS,
    REMEMBERED_CHARS,
    korean_stem,
    tells_little,
)
from core.knowledge.interference.concepts import empty_words, idea_of, weight_of
from core.knowledge.search.spelling import senses
from core.knowledge.search.tokens import stem

_QUOTED = re.compile(
    "`([^`\n]{1,120})`|\"([^\"\n]{1,120})\"|(?<![A-Za-z])'([^'\n]{1,120})'(?![A-Za-z])"
    "|“([^”\n]{1,120})”|‘([^’\n]{1,120})’|「([^」\n]{1,120})」|『([^』\n]{1,120})』"
)
_PATH = re.compile(r"[\w.~-]*(?:/[\w.*{}~-]+)+/?|\b[\w-]+\.[A-Za-z][A-Za-z0-9]{0,7}\b")
_CODED = re.compile(
    r"\b(?:[A-Za-z][A-Za-z0-9]*_[A-Za-z0-9_]+|[A-Z]{1,6}-?\d[\w-]*|[A-Z]{2,}[A-Z0-9]*(?:-[A-Z0-9]+)*"
    r"|[a-z]+-\d+|\d+[A-Z]\w*)\b|#[\w가-힣-]+|@[\w.]+|https?://\S+"
)
_WORD = re.compile(r"[가-힣]{1,64}|[^\W\d_가-힣]{1,64}")
_LEAST_NAME = 2


class Terms(frozenset[str]):
    """The ideas and stems of a text; Korean ones are found as parts of compounds as well."""

    def has_part(self, term: str) -> bool:
        """Whether a Korean term begins or ends one of these, or one of these begins it."""
        if len(term) < _LEAST_NAME or not "가" <= term[0] <= "힣":
            return False
        if term in self._ends:
            return True
        return any(term[:end] in self for end in range(_LEAST_NAME, len(term)))

    @cached_property
    def _ends(self) -> frozenset[str]:
        """All beginnings and endings of Korean terms, of two syllables at least."""
        korean = [term for term in self if "가" <= term[0] <= "힣"]
        begins = {term[:at] for term in korean for at in range(_LEAST_NAME, len(term))}
        return frozenset(begins | {t[at:] for t in korean for at in range(1, len(t) - 1)})


def terms(text: str) -> Terms:
    """Return the ideas and stems of a text that tell of a matter."""
    return _remembered(text) if len(text) <= REMEMBERED_CHARS else _terms(text)


@lru_cache(maxsize=8_000)
def _remembered(text: str) -> Terms:
    return _terms(text)


def _terms(text: str) -> Terms:
    """Return the terms; `words_of` also reads values and denials, which takes twenty times as long.

    (1 ms a sentence.)
    """
    found: set[str] = set()
    for word in _WORD.findall(text.casefold()):
        if idea := idea_of(word):
            found.add(idea)
        elif word not in FUNCTION_WORDS and word not in _counts():
            base = stem(word) if word.isascii() else korean_stem(word)
            if len(base) > 1 and base not in tells_little() and base not in empty_words():
                found.add(senses().get(base, base))
    return Terms(found)


@lru_cache(maxsize=1)
def _counts() -> frozenset[str]:
    """Return the words of numbers and units, which are values."""
    told = written.HANGUL_COUNTS, written.HANGUL_DAYS, written.ENGLISH_COUNTS, written.UNITS
    return frozenset(word for words in told for word in words)


def shared(one: Iterable[str], other: Terms) -> frozenset[str]:
    """Return the terms of one text that another has too, also within a Korean compound."""
    return frozenset(term for term in one if term in other or other.has_part(term))


def weigh(found: Iterable[str], common: Container[str] = ()) -> float:
    """Return how much shared terms say; those of `common` half as much."""
    return sum(weight_of(term) * (0.5 if term in common else 1) for term in found)


@lru_cache(maxsize=8_000)
def values(text: str) -> Sequence[Quantity]:
    """Return the quantities of a text."""
    return quantities(text[:REMEMBERED_CHARS].lower())


def names(text: str) -> frozenset[str]:
    """Return what a text names beyond doubt: quoted words, paths, codes."""
    found = {quoted[quoted.lastindex or 0].strip() for quoted in _QUOTED.finditer(text)}
    bare = _QUOTED.sub(" ", text)
    found |= {path[0].strip("/.") for path in _PATH.finditer(text)}
    found |= {code[0] for code in _CODED.finditer(bare)}
    return frozenset(name for name in found if len(name) >= _LEAST_NAME)


def says(name: str, text: str) -> bool:
    """Whether a text has a name as a word of its own, a particle after it or not."""
    if name.casefold() not in text.casefold():
        return False
    before = r"(?<![\w])" if name[:1].isalnum() else ""
    after = r"(?![A-Za-z0-9_])" if name[-1:].isascii() and name[-1:].isalnum() else ""
    if "가" <= name[-1:] <= "힣":
        after = r"(?![가-힣]{3})"
    # `ON` and `US` as codes are no words of a sentence.
    is_code = name.isascii() and name.isupper() and name.isalpha()
    return (
        re.search(before + re.escape(name) + after, text, 0 if is_code else re.IGNORECASE)
        is not None
    )
