"""What is made into vectors, and what comes of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

Vector = Sequence[float]


@dataclass(frozen=True)
class Unembedded:
    """A document of the search index that lacks its vector; `revision` rises with each change."""

    document_id: int
    revision: int
    text: str


@dataclass(frozen=True)
class VectorBatch:
    """Documents to embed; `dimension` is that of the vectors there are, None where none are."""

    documents: tuple[Unembedded, ...]
    dimension: int | None


@dataclass(frozen=True)
class Embedded:
    """The vector of one revision of a document; None where the model takes no part of its text."""

    document_id: int
    revision: int
    vector: Vector | None


@dataclass(frozen=True)
class VectorBacklog:
    """How many documents are to have a vector, and how many wait for theirs; what went wrong."""

    documents: int
    waiting: int
    error: str = ""
