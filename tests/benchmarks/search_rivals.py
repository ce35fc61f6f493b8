"""The baselines of search: the full-text search of PostgreSQL, and BM25 over words."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from core.adapters.postgres.queries import Connection
from core.knowledge.search.documents import SearchDocument

_K1, _B = 1.2, 0.75


class FullText:
    """`to_tsvector('simple')`, any word of the query, by `ts_rank_cd`."""

    def __init__(self, conn: Connection) -> None:
        self._conn = conn

    async def put(self, documents: Sequence[SearchDocument]) -> None:
        await self._conn.execute("CREATE TEMP TABLE rival (id text, words tsvector)")
        async with self._conn.cursor() as cursor:
            await cursor.executemany(
                "INSERT INTO rival VALUES (%s, to_tsvector('simple', %s))",
                [(d.item_id, f"{d.name}\n{d.content}\n{' '.join(d.files)}") for d in documents],
            )

    async def best(self, query: str, limit: int) -> list[str]:
        rows = await self._conn.execute(
            "WITH asked AS (SELECT replace(plainto_tsquery('simple', %s)::text, '&', '|')::tsquery"
            " AS q) SELECT id FROM rival, asked WHERE words @@ q"
            " ORDER BY ts_rank_cd(words, q, 1) DESC, id LIMIT %s",
            (query, limit),
        )
        return [row["id"] for row in await rows.fetchall()]


class WordBm25:
    """BM25 over words separated by blanks, case folded."""

    def __init__(self, documents: Sequence[SearchDocument]) -> None:
        self._words = {
            d.item_id: Counter(f"{d.name} {d.content}".casefold().split()) for d in documents
        }
        self._standing = Counter(word for words in self._words.values() for word in words)
        self._mean = sum(w.total() for w in self._words.values()) / len(self._words)

    def best(self, query: str, limit: int) -> list[str]:
        asked = query.casefold().split()
        scores = {item: self._score(asked, words) for item, words in self._words.items()}
        ranked = sorted((item for item in scores if scores[item]), key=lambda i: -scores[i])
        return ranked[:limit]

    def _score(self, asked: Sequence[str], words: Counter[str]) -> float:
        norm = _K1 * (1 - _B + _B * words.total() / self._mean)
        return sum(
            self._idf(word) * words[word] * (_K1 + 1) / (words[word] + norm) for word in asked
        )

    def _idf(self, word: str) -> float:
        standing = self._standing[word]
        return math.log(1 + (len(self._words) - standing + 0.5) / (standing + 0.5))
