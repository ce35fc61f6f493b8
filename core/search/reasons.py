"""Which words of a text a query has matched, as a reader sees them: whole, and not in shards."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from core.search.suffixes import suffix_start
from core.search.tokens import Token, is_single, is_unspaced, unspaced_after, unspaced_before

_MOST = 0.5
_SHOWN = 5
IN_TEXT = "in the text"


class Place(NamedTuple):
    """A part of an item that counts by itself: what it is called, and where terms stand in it."""

    called: str
    text: str
    tokens: Sequence[Token]


class _Matched(NamedTuple):
    """A stretch of a text that matched without a gap, with the terms that say so."""

    text: str
    terms: frozenset[str]


def whole_words(terms: Collection[str]) -> set[str]:
    """Give the terms that say something by themselves.

    A single character is one where it is no part of another term: a word of its own.
    """
    longer = {term for term in terms if not is_single(term)}
    inside = {char for term in longer for char in term}
    return longer | ({*terms} - inside)


def reason(places: Sequence[Place], weights: Mapping[str, float]) -> str:
    """Name the heaviest words that matched, as they are written, at the best place of each.

    What is no whole word is named only where there is nothing else.
    """
    shown = _chosen(places, weights, is_strict=True) or _chosen(places, weights, is_strict=False)
    if not shown:
        return "matches further down in the text"
    if {*shown.values()} == {IN_TEXT}:
        return f"matches {', '.join(shown)}"
    parts = [
        f"{', '.join(words)} {place.called}"
        for place in places
        if (words := [word for word, where in shown.items() if where == place.called])
    ]
    return f"matches {'; '.join(parts)}"


def _chosen(
    places: Sequence[Place], weights: Mapping[str, float], *, is_strict: bool
) -> dict[str, str]:
    """Choose up to five words, each for a term that none before it has: word -> place."""
    shown: dict[str, str] = {}
    named: set[str] = set()
    for place, stretches in _by_weight(places, weights):
        new = [tokens for tokens in stretches if not _terms(tokens) <= named]
        words = [one for tokens in new if (one := _matched(place.text, tokens, is_strict))]
        for one in sorted(words, key=lambda one: -len(one.text)):
            if not one.terms <= named and not any(_is_in(one.text, known) for known in shown):
                shown[one.text] = place.called
                named |= one.terms
            if len(shown) == _SHOWN:
                return shown
    return shown


def _by_weight(
    places: Sequence[Place], weights: Mapping[str, float]
) -> list[tuple[Place, list[list[Token]]]]:
    """Give the stretches that matched, those of one weight and place together, heaviest first."""
    found: dict[tuple[float, int], list[list[Token]]] = {}
    for at, place in enumerate(places):
        for tokens in _joined(place.tokens):
            heaviest = max(weights[token.term] for token in tokens)
            found.setdefault((-heaviest, at), []).append(tokens)
    return [(places[at], found[heaviest, at]) for heaviest, at in sorted(found)]


def _terms(tokens: Sequence[Token]) -> frozenset[str]:
    return frozenset(token.term for token in tokens)


def _is_in(word: str, known: str) -> bool:
    return word.casefold() in known.casefold()


def _matched(text: str, tokens: Sequence[Token], is_strict: bool) -> _Matched | None:
    start, end = tokens[0].start, max(token.end for token in tokens)
    first, last = _word(text, start, end)
    terms = _terms(tokens)
    if end - start > _MOST * (last - first):
        return _Matched(text[first:last], terms)
    if is_strict and all(map(is_single, terms)):
        return None
    return _Matched(text[start:end], terms)


def _joined(tokens: Sequence[Token]) -> Iterator[list[Token]]:
    """Join what overlaps or touches."""
    run: list[Token] = []
    end = 0
    for token in sorted(tokens, key=lambda token: token.start):
        if run and token.start > end:
            yield run
            run = []
        run.append(token)
        end = max(end, token.end)
    if run:
        yield run


def _word(text: str, start: int, end: int) -> tuple[int, int]:
    """Give the word of a script without spaces that a stretch is part of; no less than that."""
    first = start
    if is_unspaced(text[start]):
        first -= unspaced_before(text, start)
    if not is_unspaced(text[end - 1]):
        return first, end
    last = end + unspaced_after(text, end)
    tail = last - unspaced_before(text, last)
    return first, max(end, tail + suffix_start(text[tail:last]))
