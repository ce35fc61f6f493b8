"""The `Embeddings` port without a model: terms hashed into a vector, synonyms mapped to one."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

from core.domain.errors import InvalidInput, SkillWorkerError
from core.domain.models.vectors import Vector
from core.knowledge.search.tokens import term_counts
from core.knowledge.search.vectors import unit


class HashedEmbeddings:
    """Texts are similar if they share terms; `senses` maps synonyms to one word.

    `failing` is raised by every call while it is set, `asked` records the texts of each call, and
    texts longer than `longest` are refused.
    """

    def __init__(
        self,
        senses: Mapping[str, str] | None = None,
        *,
        dimension: int = 256,
        longest: int = 100_000,
    ) -> None:
        self.failing: SkillWorkerError | None = None
        self.asked: list[list[str]] = []
        self.dimension = dimension
        self._senses = senses or {}
        self._longest = longest

    async def embed_query(self, text: str) -> Vector:
        return (await self.embed_documents([text]))[0]

    async def embed_documents(self, texts: Sequence[str]) -> Sequence[Vector]:
        self.asked.append([*texts])
        if self.failing is not None:
            raise self.failing
        if any(len(text) > self._longest for text in texts):
            raise InvalidInput("a text is too long")
        return [self._vector(text) for text in texts]

    def _vector(self, text: str) -> Vector:
        for word, sense in self._senses.items():
            text = text.replace(word, sense)
        vector = [0.0] * self.dimension
        for term, count in term_counts(text).items():
            digest = hashlib.sha256(term.encode()).digest()
            index = int.from_bytes(digest[:4], "big") % self.dimension
            vector[index] += count if digest[4] % 2 else -count
        try:
            return unit(vector)
        except ValueError:
            raise InvalidInput("a text says nothing") from None
