"""What code can prove of how a text relates to known ones: same, nearly the same, same name."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

from pydantic import JsonValue

SHINGLE = 3
NEAR = 0.6
_WORD = re.compile(r"\w+")
_NAME_LINE = re.compile(r"^(?:#+\s*|name:\s*)?(.*)$")


@dataclass(frozen=True)
class Known:
    """A known item as text."""

    id: str
    name: str
    text: str


def compare(content: str, known: Iterable[Known]) -> list[JsonValue]:
    """Compare a text with known items, the most similar first.

    Each entry has `id`, `name`, `exact_duplicate`, `near_duplicate`, `similarity` (Jaccard of
    character shingles, 0 to 1) and `name_collision`.
    """
    found = [(similarity(content, item.text), item) for item in known]
    found.sort(key=lambda pair: (-pair[0], pair[1].id))
    return [_evidence(content, item, score) for score, item in found]


def _evidence(content: str, item: Known, score: float) -> JsonValue:
    is_same = normalised(content) == normalised(item.text)
    return {
        "id": item.id,
        "name": item.name,
        "exact_duplicate": is_same,
        "near_duplicate": not is_same and score >= NEAR,
        "similarity": round(score, 3),
        "name_collision": normalised(_title(content)) == normalised(item.name),
    }


def normalised(text: str) -> str:
    """Give text without differences of form: NFC, case folded, words one blank apart."""
    return " ".join(_WORD.findall(unicodedata.normalize("NFC", text).casefold()))


def shingles(text: str, size: int = SHINGLE) -> frozenset[str]:
    """Give the character shingles of a text; they serve Korean, where words take particles."""
    plain = normalised(text).replace(" ", "")
    return frozenset(plain[i : i + size] for i in range(max(1, len(plain) - size + 1)))


def similarity(one: str, other: str) -> float:
    """Give the Jaccard similarity of two texts' shingles, 0 to 1."""
    a, b = shingles(one), shingles(other)
    return len(a & b) / len(a | b)


def _title(content: str) -> str:
    first = content.strip().split("\n", 1)[0]
    found = _NAME_LINE.match(first)
    return found.group(1) if found else first
