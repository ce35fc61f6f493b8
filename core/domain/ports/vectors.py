"""Search by meaning: a model that makes vectors of texts, and the vectors it made."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from core.domain.models import Kind, KnownText
from core.domain.models.vectors import Embedded, Vector, VectorBatch


class Embeddings(Protocol):
    """An embedding model. Its vectors have one dimension and length 1.

    Both raise ModelDown for what may pass, ConfigurationError where its settings are refused, and
    InvalidInput where it takes no such text (too long for it, or nothing in it).
    """

    async def embed_query(self, text: str) -> Vector:
        """Give the vector of what somebody looks for."""

    async def embed_documents(self, texts: Sequence[str]) -> Sequence[Vector]:
        """Give the vectors of what is to be found, in the order of `texts`."""


class Vectors(Protocol):
    """The vectors that one model made of the documents of the search index."""

    async def nearest(
        self, vector: Vector, *, tenant_id: str, agent_id: str | None, kind: Kind | None, limit: int
    ) -> Sequence[KnownText]:
        """Give the documents nearest to a vector of length 1, best first.

        `score` is 1 for the same meaning, and falls to 0 at what unrelated texts have in common;
        farther documents are left out. With an agent: its own and those shared in the tenant.
        """

    async def enlist(self) -> None:
        """Note that the model is in use, list all that lacks a vector, forget models long unused.

        New and changed documents are listed by themselves; a changed one has no vector any more.
        """

    async def take(self, limit: int, seconds: float) -> VectorBatch | None:
        """Take documents that lack a vector, newest first: None where none do or it is not due.

        For `seconds`, or until `put` or `put_off`, nobody else is given any.
        """

    async def begin(self, dimension: int, noise: float) -> None:
        """Set what vectors look like from here on; those of another dimension are to be made anew.

        `noise` is the cosine similarity that unrelated texts reach in this model.
        """

    async def put(self, made: Sequence[Embedded]) -> None:
        """Keep vectors, of documents that have not changed meanwhile; the next batch is due."""

    async def put_off(self, error: str, retry_after: float | None) -> float:
        """Note that the model failed; gives the seconds until the next batch is due.

        They grow with each failure in a row, up to five minutes, and are not below `retry_after`.
        """
