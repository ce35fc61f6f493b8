"""Documents that need vectors, and the vectors made of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

Vector = Sequence[float]


@dataclass(frozen=True)
class Unembedded:
    """An indexed document without its vector; `revision` rises with each change."""

    document_id: int
    revision: int
    text: str


@dataclass(frozen=True)
class VectorBatch:
    """Documents to embed; `dimension` is that of existing vectors, None if there are none."""

    documents: tuple[Unembedded, ...]
    dimension: int | None


@dataclass(frozen=True)
class Embedded:
    """The vector of one revision of a document; None if the model cannot embed its text."""

    document_id: int
    revision: int
    vector: Vector | None


@dataclass(frozen=True)
class VectorBacklog:
    """How many documents should have a vector, how many still lack it, and the last error.

    `model` names the model as the database does, `others` those whose vectors are kept beside.
    """

    documents: int
    waiting: int
    error: str = ""
    model: str = ""
    others: tuple[str, ...] = ()
