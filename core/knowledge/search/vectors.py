"""Vector arithmetic: normalisation, sign bits, and calibrated similarity (pure)."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Sequence
from itertools import combinations
from statistics import fmean, pstdev

Vector = Sequence[float]
# pgvector's own limit for a column of type vector.
MOST_DIMENSIONS = 16_000
KOREAN_SHARE = 0.3  # of Hangul among the letters, from which a text counts as Korean alone


def embedded_text(name: str, content: str) -> str:
    """Return the text to embed: the content, preceded by the name unless it begins with it."""
    beginning = " ".join(content[:2_000].split())
    return content if name.rstrip("…") in beginning else f"{name}\n{content}"


def unit(vector: Vector) -> tuple[float, ...]:
    """Return the vector scaled to length 1. Raises ValueError if it is empty, zero or infinite."""
    length = math.sqrt(math.fsum(x * x for x in vector))
    if not vector or not math.isfinite(length) or length == 0:
        raise ValueError("not a vector with a direction")
    return tuple(x / length for x in vector)


def mean(vectors: Sequence[Vector]) -> tuple[float, ...]:
    """Return the mean of vectors of one dimension, component by component."""
    return tuple(map(fmean, zip(*vectors, strict=True)))


def cosine(one: Vector, other: Vector) -> float:
    """Return the cosine similarity of two vectors of length 1."""
    return math.fsum(a * b for a, b in zip(one, other, strict=True))


def signs(vector: Vector) -> str:
    """Return one bit per component, 1 if it is positive.

    Vectors with few differing signs are close (Charikar 2002); comparing signs is cheap enough
    to scan all documents.
    """
    return "".join("1" if x > 0 else "0" for x in vector)


def noise(unrelated: Sequence[Vector]) -> float:
    """Return the cosine similarity that unrelated texts reach: mean over pairs plus one deviation.

    Models differ widely: around 0.1 in some, 0.8 in others.
    """
    found = [cosine(one, other) for one, other in combinations(unrelated, 2)]
    return min(0.99, max(0.0, fmean(found) + pstdev(found)))


def closeness(similarity: float, noise: float) -> float:
    """Rescale a cosine similarity: 0 at the model's noise and below, 1 for equal vectors."""
    return min(1.0, max(0.0, (similarity - noise) / (1 - noise)))


def hangul_share(text: str) -> float:
    """Return the share of Hangul among the letters of a text, 0 to 1."""
    letters = [char for char in unicodedata.normalize("NFC", text) if char.isalpha()]
    return sum("가" <= char <= "힣" for char in letters) / max(1, len(letters))
