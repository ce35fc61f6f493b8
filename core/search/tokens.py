"""Text to terms, for languages with and without spaces between words, and for identifiers."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache

from snowballstemmer.english_stemmer import EnglishStemmer  # type: ignore[import-untyped]

MAX_CHARS = 100_000
MAX_TERMS = 10_000
MAX_TERM_CHARS = 64

# Hangul (syllables and letters), kana, bopomofo, Han, Thai, Lao, Tibetan, Myanmar, Khmer.
_UNSPACED = (
    "\u0e00-\u0fff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3040-\u31ff\u3400-\u4dbf"
    "\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff66-\uff9f\U00020000-\U000323af"
)
_PIECE = re.compile(
    r"(?P<number>\d{1,3}(?:,\d{3})+(?!\d)(?:\.\d+)?|\d+(?:\.\d+)*)"
    rf"|(?P<unspaced>[{_UNSPACED}]+)"
    rf"|(?P<word>[^\W\d_{_UNSPACED}]+)"
)
_HUMP = re.compile("(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_UNIT = re.compile(r"\s?([십백천]?)([만억조])|\s?([백천])")
_UNIT_VALUES = {
    "": 1,
    "십": 10,
    "백": 100,
    "천": 1_000,
    "만": 10_000,
    "억": 100_000_000,
    "조": 1_000_000_000_000,
}
_FUNCTION_WORDS = (
    "a an and are as at be been but by do does for from has have he her his i if in into is it its"
    " me my of on or our s she so t that the their them then there they this to was we were when"
    " which who will with you your"
)
_STOP_WORDS = frozenset(_FUNCTION_WORDS.split())


@dataclass(frozen=True)
class Token:
    """A term, and where it stands in the NFC form of the text."""

    term: str
    start: int
    end: int


def term_counts(text: str, *, limit: int = MAX_TERMS) -> Counter[str]:
    """Count the terms of a text, up to its first `limit` distinct ones."""
    counts: Counter[str] = Counter()
    for token in scan(text):
        if len(counts) >= limit and token.term not in counts:
            break
        counts[token.term] += 1
    return counts


def scan(text: str) -> Iterator[Token]:
    """Give the terms of the first 100,000 characters of a text (in NFC), in order.

    Scripts without spaces, and Hangul with its particles, give single characters and pairs.
    Words are case folded, stemmed where they are ASCII, and taken apart at the humps of
    identifiers; English function words are left out. Numbers lose their grouping; a Korean unit
    gives the number in full as well (`100만` is also 1000000).
    """
    text = unicodedata.normalize("NFC", text[:MAX_CHARS])
    for piece in _PIECE.finditer(text):
        match piece.lastgroup:
            case "number":
                yield from _number(text, piece)
            case "unspaced":
                yield from _grams(piece)
            case _:
                yield from _word(piece)


def _grams(piece: re.Match[str]) -> Iterator[Token]:
    run, start = piece[0], piece.start()
    for at in range(len(run)):
        yield Token(run[at], start + at, start + at + 1)
        if at + 1 < len(run):
            yield Token(run[at : at + 2], start + at, start + at + 2)


def _word(piece: re.Match[str]) -> Iterator[Token]:
    parts = _HUMP.split(piece[0])
    if len(parts) > 1:
        yield Token(stem(piece[0][:MAX_TERM_CHARS]), piece.start(), piece.end())
    start = piece.start()
    for part in parts:
        end = start + len(part)
        if part.casefold() not in _STOP_WORDS:
            yield Token(stem(part[:MAX_TERM_CHARS]), start, end)
        start = end


def _number(text: str, piece: re.Match[str]) -> Iterator[Token]:
    plain = "".join(str(unicodedata.decimal(c, c)) for c in piece[0] if c != ",")
    plain = plain[:MAX_TERM_CHARS]
    if plain.count(".") == 1:
        plain = plain.rstrip("0").rstrip(".")
    yield Token(plain, piece.start(), piece.end())
    unit = _UNIT.match(text, piece.end())
    if unit and plain.count(".") <= 1:
        factor = _UNIT_VALUES[unit[1] or ""] * _UNIT_VALUES[unit[2] or unit[3]]
        whole = f"{(Decimal(plain) * factor).normalize():f}"
        yield Token(whole[:MAX_TERM_CHARS], piece.start(), unit.end())


@lru_cache(maxsize=50_000)
def stem(word: str) -> str:
    """Give a word case folded and, where it is ASCII, by its English stem."""
    folded = unicodedata.normalize("NFC", word.casefold())[:MAX_TERM_CHARS]
    return str(EnglishStemmer().stemWord(folded)) if folded.isascii() else folded
