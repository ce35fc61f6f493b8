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
    weight: float


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
    found = [
        (-one.weight, at, -len(one.text), one)
        for at, place in enumerate(places)
        for one in _matched(place, weights, is_strict=is_strict)
    ]
    found.sort(key=lambda ranked: ranked[:3])
    shown: dict[str, str] = {}
    named: set[str] = set()
    for _, at, _, one in found:
        if not one.terms <= named and not any(_is_in(one.text, known) for known in shown):
            shown[one.text] = places[at].called
            named |= one.terms
        if len(shown) == _SHOWN:
            break
    return shown


def _is_in(word: str, known: str) -> bool:
    return word.casefold() in known.casefold()


def _matched(place: Place, weights: Mapping[str, float], *, is_strict: bool) -> Iterator[_Matched]:
    for run in _joined(place.tokens):
        terms = frozenset(token.term for token in run)
        start, end = run[0].start, max(token.end for token in run)
        first, last = _word(place.text, start, end)
        is_most = end - start > _MOST * (last - first)
        if is_most:
            start, end = first, last
        if is_most or not is_strict or not all(map(is_single, terms)):
            yield _Matched(place.text[start:end], terms, max(weights[term] for term in terms))


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
