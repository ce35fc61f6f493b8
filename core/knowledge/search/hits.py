"""Turn a ranked document into a hit: an excerpt, and which words matched where."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from core.domain.messages import Message, joined
from core.domain.models import Hit, Kind, Scope
from core.knowledge.search.documents import headings
from core.knowledge.search.hanja import as_hangul
from core.knowledge.search.names import is_among
from core.knowledge.search.tokens import (
    Reader,
    Token,
    has_hanja,
    has_strays,
    is_gram,
    is_single,
    is_unspaced,
    suffix_start,
    unspaced_after,
    unspaced_before,
)

MAX_SPOTS = 1_000
_AT_MOST = 200
_ASIDE = 64
_UNIT_CHARS = 4
_NUMBER = re.compile(r"\d+")


def spots(text: str, terms: Collection[str]) -> list[Token]:
    """Return the occurrences of these terms in a text (NFC), in order: the first 200 of each."""
    grams = () if has_strays(text) else [term for term in terms if is_gram(term)]
    texts = {text, as_hangul(text)} if has_hanja(text) else {text}
    found = [
        Token(term, at, at + len(term))
        for one in sorted(texts)
        for term in grams
        for at in _starts(one, term)
    ]
    if len(grams) < len(terms):
        found += _read(text, {*terms}.difference(grams))
    found.sort(key=lambda token: token[1:3])
    return found[:MAX_SPOTS]


def _read(text: str, terms: Collection[str]) -> Iterator[Token]:
    """Yield the terms that can only be recognised by tokenising the text around them."""
    reader = Reader(text)
    end = 0
    for at in _candidates(text, terms):
        if at >= end:
            start, end = _around(text, at)
            yield from (token for token in reader.scan(start, end) if token.term in terms)


def _candidates(text: str, terms: Iterable[str]) -> list[int]:
    """Return the positions, in order, where one of the terms may begin."""
    folded = text.casefold()
    if len(folded) != len(text):  # positions would differ between the two
        folded = text
    positions = {at for term in terms for at in _starts(folded, term) if _may_begin(text, at)}
    if any(term[0].isdecimal() for term in terms):
        positions |= {match.start() for match in _NUMBER.finditer(text)}
    return sorted(positions)


def _may_begin(text: str, at: int) -> bool:
    """Whether a position is not inside an English word; a hump of an identifier is not."""
    around = text[max(0, at - 1) : at + 1]
    return len(around) < 2 or not around.isascii() or not around.isalpha() or around[1].isupper()


def _starts(text: str, term: str) -> Iterator[int]:
    """Yield where a term may begin: a stem can differ from its word in the last letter."""
    beginning = term[:-1] if term.isascii() and len(term) > 3 else term
    at = text.find(beginning)
    for _ in range(_AT_MOST):
        if at < 0:
            return
        yield at
        at = text.find(beginning, at + 1)


def _around(text: str, at: int) -> tuple[int, int]:
    """Return the run of letters and digits around a position; with its unit after a number."""
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


_MOST = 0.5
_SHOWN = 5
IN_TEXT = "in the text"  # where words occur, as messages name it
IN_NAME, IN_HEADING, IN_FILE_NAME = "in the name", "in a heading", "in a file name"


class Section(NamedTuple):
    """A part of an item: its description, its text, and the occurrences of terms in it."""

    called: str
    text: str
    tokens: Sequence[Token]


class _Matched(NamedTuple):
    """A contiguous match in a text, with its terms."""

    text: str
    terms: frozenset[str]


def whole_words(terms: Collection[str]) -> set[str]:
    """Return the terms that are meaningful by themselves.

    A single character is, unless it is part of another term.
    """
    longer = {term for term in terms if not is_single(term)}
    inside = {char for term in longer for char in term}
    return longer | ({*terms} - inside)


def reason(sections: Sequence[Section], weights: Mapping[str, float]) -> str:
    """Return a sentence naming the matched words of most weight, as written, and their best part.

    Partial words are named only if nothing else matched.
    """
    shown = _chosen(sections, weights, is_strict=True) or _chosen(
        sections, weights, is_strict=False
    )
    if not shown:
        return Message("search.further_down")
    if {*shown.values()} == {IN_TEXT}:
        return Message("search.matches", words=", ".join(shown))
    parts = [
        _said(", ".join(words), section.called)
        for section in sections
        if (words := [word for word, where in shown.items() if where == section.called])
    ]
    return Message("search.matches", words=joined(parts))


def _said(words: str, section: str) -> Message:
    if section == IN_NAME:
        return Message("search.in_name", words=words)
    if section == IN_HEADING:
        return Message("search.in_heading", words=words)
    if section == IN_FILE_NAME:
        return Message("search.in_file_name", words=words)
    return Message("search.in_text", words=words)


def _chosen(
    sections: Sequence[Section], weights: Mapping[str, float], *, is_strict: bool
) -> dict[str, str]:
    """Choose up to five words, each adding a new term: word -> part."""
    shown: dict[str, str] = {}
    named: set[str] = set()
    for section, stretches in _by_weight(sections, weights):
        new = [tokens for tokens in stretches if not _terms(tokens) <= named]
        words = [one for tokens in new if (one := _matched(section.text, tokens, is_strict))]
        for one in sorted(words, key=lambda one: -len(one.text)):
            if not one.terms <= named and not any(_is_in(one.text, known) for known in shown):
                shown[one.text] = section.called
                named |= one.terms
            if len(shown) == _SHOWN:
                return shown
    return shown


def _by_weight(
    sections: Sequence[Section], weights: Mapping[str, float]
) -> list[tuple[Section, list[list[Token]]]]:
    """Return the contiguous matches, grouped by weight and part, heaviest first."""
    found: dict[tuple[float, int], list[list[Token]]] = {}
    for at, section in enumerate(sections):
        for tokens in _joined(section.tokens):
            heaviest = max(weights[token.term] for token in tokens)
            found.setdefault((-heaviest, at), []).append(tokens)
    return [(sections[at], found[heaviest, at]) for heaviest, at in sorted(found)]


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
    """Yield runs of tokens that overlap or touch."""
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
    """Return the word around a match in a script without spaces, at least the match itself."""
    first = start
    if is_unspaced(text[start]):
        first -= unspaced_before(text, start)
    if not is_unspaced(text[end - 1]):
        return first, end
    last = end + unspaced_after(text, end)
    tail = last - unspaced_before(text, last)
    return first, max(end, tail + suffix_start(text[tail:last]))


EXCERPT_CHARS = 200
SCANNED_CHARS = 20_000


def make_hit(
    *,
    kind: Kind,
    item_id: str,
    name: str,
    agent_id: str | None,
    content: str,
    score: float,
    weights: Mapping[str, float],
    files: Sequence[str] = (),
    names: Container[str] = (),
    taught_at: datetime | None = None,
    valid_until: datetime | None = None,
    scope: Scope = Scope.AGENT,
    user: str | None = None,
) -> Hit:
    """Return a hit; excerpt and reason come from the first 20,000 characters.

    `names` are the keys that the query names: of an item that is one, the reason says so first.
    """
    text = " ".join(unicodedata.normalize("NFC", content[:SCANNED_CHARS]).split())
    parts = {**_parts(kind, name, content, files), IN_TEXT: text}
    sections = _sections(parts, whole_words(weights)) or _sections(parts, weights)
    tokens = next((section.tokens for section in sections if section.called == IN_TEXT), ())
    why = [reason(sections, weights)] if sections else []
    if is_among(kind, name, item_id, names):
        why.insert(0, Message("search.named"))
    return Hit(
        id=item_id,
        kind=kind,
        name=name,
        excerpt=_excerpt(text, tokens, weights),
        score=round(score, 4),
        agent_id=agent_id,
        why=joined(why) or reason(sections, weights),
        taught_at=taught_at,
        valid_until=valid_until,
        scope=scope,
        user=user,
    )


def _parts(kind: Kind, name: str, content: str, files: Sequence[str]) -> dict[str, str]:
    """Return the parts with extra weight; a memory has none: its name repeats its beginning."""
    if kind is Kind.MEMORY:
        return {}
    parts = {
        IN_NAME: name,
        IN_HEADING: "\n".join(headings(kind, content[:SCANNED_CHARS])),
        IN_FILE_NAME: "\n".join(files),
    }
    return {
        called: unicodedata.normalize("NFC", part[:SCANNED_CHARS]) for called, part in parts.items()
    }


def _sections(parts: Mapping[str, str], terms: Collection[str]) -> list[Section]:
    """Return the parts in which any of the terms occur."""
    found = [Section(called, text, spots(text, terms)) for called, text in parts.items()]
    return [section for section in found if section.tokens]


def _excerpt(text: str, tokens: Sequence[Token], weights: Mapping[str, float]) -> str:
    if len(text) <= EXCERPT_CHARS:
        return text
    start = max(0, min(_best_start(tokens, weights) - 20, len(text) - EXCERPT_CHARS))
    if start and (blank := text.find(" ", start, start + 20)) >= 0:
        start = blank + 1
    end = start + EXCERPT_CHARS
    return ("…" if start else "") + text[start:end].rstrip() + ("…" if end < len(text) else "")


def _best_start(tokens: Sequence[Token], weights: Mapping[str, float]) -> int:
    """Return the start of the excerpt whose distinct terms weigh most, the first of equals.

    A sliding window over the occurrences, so linear in their number.
    """
    inside: Counter[str] = Counter()
    best, best_start, weight, first = 0.0, 0, 0.0, 0
    for token in tokens:
        weight += 0 if inside[token.term] else weights[token.term]
        inside[token.term] += 1
        while token.end - tokens[first].start > EXCERPT_CHARS - 20:
            left = tokens[first].term
            inside[left] -= 1
            weight -= 0 if inside[left] else weights[left]
            first += 1
        if weight > best + 1e-9:
            best, best_start = weight, tokens[first].start
    return best_start
