"""Arithmetic of vectors: length, signs, and what a similarity is worth (pure)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from statistics import mean, pstdev

Vector = Sequence[float]
# pgvector's own limit for a column of type vector.
MOST_DIMENSIONS = 16_000


def embedded_text(name: str, content: str) -> str:
    """Give what is embedded: the content, under the name where it does not begin with it."""
    beginning = " ".join(content[:2_000].split())
    return content if name.rstrip("…") in beginning else f"{name}\n{content}"


def unit(vector: Vector) -> tuple[float, ...]:
    """Give a vector of length 1. Raises ValueError where it has no direction, or is no vector."""
    length = math.sqrt(math.fsum(x * x for x in vector))
    if not vector or not math.isfinite(length) or length == 0:
        raise ValueError("not a vector with a direction")
    return tuple(x / length for x in vector)


def cosine(one: Vector, other: Vector) -> float:
    """Give the cosine of the angle between two vectors of length 1."""
    return math.fsum(a * b for a, b in zip(one, other, strict=True))


def signs(vector: Vector) -> str:
    """Give a bit for each component, 1 where it is positive.

    Vectors that differ in few signs lie close (Charikar 2002): cheap enough to look at all.
    """
    return "".join("1" if x > 0 else "0" for x in vector)


def noise(unrelated: Sequence[Vector]) -> float:
    """Give the cosine similarity that texts reach which have nothing to do with each other.

    Models differ widely in it: around 0.1 in some, 0.8 in others. It is the mean over all pairs,
    and one standard deviation.
    """
    found = [cosine(one, other) for one, other in combinations(unrelated, 2)]
    return min(0.99, max(0.0, mean(found) + pstdev(found)))


def closeness(similarity: float, noise: float) -> float:
    """Give what a cosine similarity is worth: 0 at the model's noise and below, 1 at the same."""
    return min(1.0, max(0.0, (similarity - noise) / (1 - noise)))
