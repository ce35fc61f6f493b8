"""Where the terms of a query stand in a text, without reading all of it as terms."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator

from core.search.tokens import Reader, Token, has_strays, is_gram

MAX_SPOTS = 1_000
_AT_MOST = 200
_ASIDE = 64
_UNIT_CHARS = 4
_NUMBER = re.compile(r"\d+")


def spots(text: str, terms: Collection[str]) -> list[Token]:
    """Give the places in a text (NFC) where these terms stand, in order: the first 200 of each."""
    grams = () if has_strays(text) else [term for term in terms if is_gram(term)]
    found = [Token(term, at, at + len(term)) for term in grams for at in _places(text, term)]
    if len(grams) < len(terms):
        found += _read(text, {*terms}.difference(grams))
    found.sort(key=lambda token: token[1:3])
    return found[:MAX_SPOTS]


def _read(text: str, terms: Collection[str]) -> Iterator[Token]:
    """Give the terms that only a reader of the text around them can tell."""
    reader = Reader(text)
    end = 0
    for at in _candidates(text, terms):
        if at >= end:
            start, end = _around(text, at)
            yield from (token for token in reader.scan(start, end) if token.term in terms)


def _candidates(text: str, terms: Iterable[str]) -> list[int]:
    """Give the places, in order, where one of the terms may begin."""
    folded = text.casefold()
    if len(folded) != len(text):  # a place in one would not be the same in the other
        folded = text
    places = {at for term in terms for at in _places(folded, term) if _may_begin(text, at)}
    if any(term[0].isdecimal() for term in terms):
        places |= {match.start() for match in _NUMBER.finditer(text)}
    return sorted(places)


def _may_begin(text: str, at: int) -> bool:
    """Tell whether a place is not inside of an English word, but for the humps of identifiers."""
    around = text[max(0, at - 1) : at + 1]
    return len(around) < 2 or not around.isascii() or not around.isalpha() or around[1].isupper()


def _places(text: str, term: str) -> Iterator[int]:
    """Give where a term may begin: a stem may end otherwise than the word it was made of."""
    beginning = term[:-1] if term.isascii() and len(term) > 3 else term
    at = text.find(beginning)
    for _ in range(_AT_MOST):
        if at < 0:
            return
        yield at
        at = text.find(beginning, at + 1)


def _around(text: str, at: int) -> tuple[int, int]:
    """Give the stretch of letters and digits around a place; after a number also its unit."""
    start = end = at
    while start > max(0, at - _ASIDE) and _is_inside(text, start - 1):
        start -= 1
    while end < min(len(text), at + _ASIDE) and _is_inside(text, end):
        end += 1
    if end < len(text) and text[end - 1].isdigit():
        end = min(len(text), end + _UNIT_CHARS)
    return start, max(end, at + 1)


def _is_inside(text: str, at: int) -> bool:
    char = text[at]
    if char in ",." and 0 < at < len(text) - 1:
        return text[at - 1].isdigit() and text[at + 1].isdigit()
    return char.isalnum()
