"""A ranked document as a hit: what it says about the query, and which words matched."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Mapping

from core.models import Hit, Kind
from core.search.tokens import Token, scan

EXCERPT_CHARS = 200
SCANNED_CHARS = 20_000
_SHOWN = 5


def make_hit(
    *,
    kind: Kind,
    item_id: str,
    name: str,
    agent_id: str | None,
    content: str,
    score: float,
    weights: Mapping[str, float],
) -> Hit:
    """Make a hit; excerpt and reason are read off the first 20,000 characters."""
    text = " ".join(unicodedata.normalize("NFC", content[:SCANNED_CHARS]).split())
    tokens = [token for token in scan(text) if token.term in weights]
    return Hit(
        id=item_id,
        kind=kind,
        name=name,
        excerpt=_excerpt(text, tokens, weights),
        score=round(score, 4),
        agent_id=agent_id,
        why=_reason(f"{name}\n{text}", weights),
    )


def _reason(text: str, weights: Mapping[str, float]) -> str:
    """Name the heaviest words that matched, as the text writes them."""
    text = unicodedata.normalize("NFC", text)
    tokens = [token for token in scan(text) if token.term in weights]
    tokens.sort(key=lambda token: (-weights[token.term], token.start - token.end, token.start))
    shown: list[str] = []
    for token in tokens:
        word = text[token.start : token.end]
        if not any(word.casefold() in known.casefold() for known in shown):
            shown.append(word)
    return f"matches {', '.join(shown[:_SHOWN])}" if shown else ""


def _excerpt(text: str, tokens: list[Token], weights: Mapping[str, float]) -> str:
    if len(text) <= EXCERPT_CHARS:
        return text
    start = max(0, min(_best_start(tokens, weights) - 20, len(text) - EXCERPT_CHARS))
    if start and (blank := text.find(" ", start, start + 20)) >= 0:
        start = blank + 1
    end = start + EXCERPT_CHARS
    return ("…" if start else "") + text[start:end].rstrip() + ("…" if end < len(text) else "")


def _best_start(tokens: list[Token], weights: Mapping[str, float]) -> int:
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
