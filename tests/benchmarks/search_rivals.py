"""The baselines of search: PostgreSQL's full-text search, and BM25 over words and characters."""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence

from core.adapters.postgres.queries import Connection
from core.knowledge.search.documents import SearchDocument

# With 1.5, the other usual value of k1, no first hit or recall at five differs by more than 0.04.
_K1, _B = 1.2, 0.75
_WORD = re.compile(r"\w+")


class FullText:
    """`to_tsvector('simple')`, any word of the query, by `ts_rank_cd`."""

    def __init__(self, conn: Connection) -> None:
        self._conn = conn

    async def put(self, documents: Sequence[SearchDocument]) -> None:
        await self._conn.execute("CREATE TEMP TABLE rival (id text, words tsvector)")
        async with self._conn.cursor() as cursor:
            await cursor.executemany(
                "INSERT INTO rival VALUES (%s, to_tsvector('simple', %s))",
                [(d.item_id, _text(d)) for d in documents],
            )

    async def best(self, query: str, limit: int) -> list[str]:
        rows = await self._conn.execute(
            "WITH asked AS (SELECT replace(plainto_tsquery('simple', %s)::text, '&', '|')::tsquery"
            " AS q) SELECT id FROM rival, asked WHERE words @@ q"
            " ORDER BY ts_rank_cd(words, q, 1) DESC, id LIMIT %s",
            (query, limit),
        )
        return [row["id"] for row in await rows.fetchall()]


def words(text: str) -> Iterator[str]:
    """Yield the words of a text: letters, digits and underscores, case folded."""
    yield from _WORD.findall(_folded(text))


def characters(text: str) -> Iterator[str]:
    """Yield the characters of each word and their pairs."""
    for word in _folded(text).split():
        yield from _grams(word)


def joined_characters(text: str) -> Iterator[str]:
    """Yield the characters of a text without blanks and their pairs: also across words."""
    yield from _grams("".join(_folded(text).split()))


def _folded(text: str) -> str:
    return unicodedata.normalize("NFC", text).casefold()


def _grams(text: str) -> Iterator[str]:
    yield from text
    yield from (text[at : at + 2] for at in range(len(text) - 1))


RIVALS: Mapping[str, Callable[[str], Iterator[str]]] = {
    "BM25 over words": words,
    "over characters and pairs in words": characters,
    "over characters and pairs without blanks": joined_characters,
}


class Bm25:
    """BM25 over any terms of all that we index of an item."""

    def __init__(
        self, documents: Sequence[SearchDocument], terms: Callable[[str], Iterator[str]]
    ) -> None:
        self._terms = terms
        self._postings: dict[str, dict[str, int]] = defaultdict(dict)
        self._lengths: dict[str, int] = {}
        for document in documents:
            counts = Counter(terms(_text(document)))
            self._lengths[document.item_id] = counts.total()
            for term, count in counts.items():
                self._postings[term][document.item_id] = count
        self._mean = sum(self._lengths.values()) / max(1, len(documents))

    def best(self, query: str, limit: int) -> list[str]:
        scores: Counter[str] = Counter()
        for term, times in Counter(self._terms(query)).items():
            postings = self._postings.get(term, {})
            idf = self._idf(len(postings))
            for item, count in postings.items():
                norm = _K1 * (1 - _B + _B * self._lengths[item] / self._mean)
                scores[item] += times * idf * count * (_K1 + 1) / (count + norm)  # type: ignore[assignment]
        return sorted(scores, key=lambda item: (-scores[item], item))[:limit]

    def _idf(self, standing: int) -> float:
        return math.log(1 + (len(self._lengths) - standing + 0.5) / (standing + 0.5))


def _text(document: SearchDocument) -> str:
    """Return name, content and files; a name that begins the content stands there once."""
    is_shown = " ".join(document.content.split()).startswith(document.name.rstrip("…"))
    parts = ["" if is_shown else document.name, document.content, *document.files]
    return "\n".join(filter(None, parts))
