"""Semantic search: an embedding model, and the vectors it made."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from core.domain.models import Kind, KnownText
from core.domain.models.vectors import Embedded, Vector, VectorBacklog, VectorBatch


class Embeddings(Protocol):
    """An embedding model. Its vectors have one dimension and length 1.

    Both raise ModelDown for what may pass, ConfigurationError if its settings are refused, and
    InvalidInput if it cannot embed such a text (too long, or empty for it).
    """

    async def embed_query(self, text: str) -> Vector:
        """Return the vector of a query."""

    async def embed_documents(self, texts: Sequence[str]) -> Sequence[Vector]:
        """Return the vectors of documents, in the order of `texts`."""


class Vectors(Protocol):
    """The vectors that one model made of the documents of the search index."""

    async def nearest(
        self,
        vector: Vector,
        *,
        tenant_id: str,
        agent_id: str | None,
        kind: Kind | None,
        limit: int,
        among: Sequence[str] | None = None,
    ) -> Sequence[KnownText]:
        """Return the documents nearest to a vector of length 1, best first.

        `score` is 1 for the same meaning, and falls to 0 at the similarity of unrelated texts;
        farther documents are left out. With an agent: its own and those shared in the tenant; with
        ids of items `among` which to look: those alone.
        """

    async def enlist(self) -> None:
        """Note that the model is in use, queue all that lacks a vector, forget models long unused.

        New and changed documents are queued automatically; a changed one loses its vector.
        """

    async def take(self, limit: int, seconds: float) -> VectorBatch | None:
        """Lease documents that lack a vector, newest first; None if there are none, or none due."""

    async def begin(self, dimension: int, noise: float) -> None:
        """Set the properties of vectors from now on; those of another dimension are made anew.

        `noise` is the cosine similarity that unrelated texts reach in this model.
        """

    async def put(self, made: Sequence[Embedded]) -> None:
        """Store vectors of documents that have not changed meanwhile; the next batch is due."""

    async def put_off(self, error: str, retry_after: float | None) -> float:
        """Note that the model failed; return the seconds until the next batch is due.

        They grow with each consecutive failure, up to five minutes, and are at least `retry_after`.
        """

    async def backlog(self) -> VectorBacklog:
        """Count the documents that lack a vector, and name the other models with vectors."""
