"""A ranked document as a hit: what it says about the query, and which words matched where."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from core.models import Hit, Kind
from core.search.documents import headings
from core.search.reasons import IN_TEXT, Place, reason, whole_words
from core.search.spots import spots
from core.search.tokens import Token

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
) -> Hit:
    """Make a hit; excerpt and reason are read off the first 20,000 characters."""
    text = " ".join(unicodedata.normalize("NFC", content[:SCANNED_CHARS]).split())
    parts = {**_parts(kind, name, content, files), IN_TEXT: text}
    places = _places(parts, whole_words(weights)) or _places(parts, weights)
    tokens = next((place.tokens for place in places if place.called == IN_TEXT), ())
    return Hit(
        id=item_id,
        kind=kind,
        name=name,
        excerpt=_excerpt(text, tokens, weights),
        score=round(score, 4),
        agent_id=agent_id,
        why=reason(places, weights),
    )


def _parts(kind: Kind, name: str, content: str, files: Sequence[str]) -> dict[str, str]:
    """Give the parts that count for more than text; a memory's name is but its beginning."""
    if kind is Kind.MEMORY:
        return {}
    parts = {
        "in the name": name,
        "in a heading": "\n".join(headings(kind, content[:SCANNED_CHARS])),
        "in a file name": "\n".join(files),
    }
    return {
        called: unicodedata.normalize("NFC", part[:SCANNED_CHARS]) for called, part in parts.items()
    }


def _places(parts: Mapping[str, str], terms: Collection[str]) -> list[Place]:
    """Give the parts in which some of the terms stand."""
    found = [Place(called, text, spots(text, terms)) for called, text in parts.items()]
    return [place for place in found if place.tokens]


def _excerpt(text: str, tokens: Sequence[Token], weights: Mapping[str, float]) -> str:
    if len(text) <= EXCERPT_CHARS:
        return text
    start = max(0, min(_best_start(tokens, weights) - 20, len(text) - EXCERPT_CHARS))
    if start and (blank := text.find(" ", start, start + 20)) >= 0:
        start = blank + 1
    end = start + EXCERPT_CHARS
    return ("…" if start else "") + text[start:end].rstrip() + ("…" if end < len(text) else "")


def _best_start(tokens: Sequence[Token], weights: Mapping[str, float]) -> int:
    """Give the start of the stretch whose distinct terms weigh most, the first such one."""
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
