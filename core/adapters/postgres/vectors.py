"""Vectors in PostgreSQL with pgvector: kept in step with the index, searched by tenant."""

from __future__ import annotations

from collections.abc import Sequence

from core.adapters.postgres.queries import Pool, execute, fetch_all, fetch_one, sql, transaction
from core.domain.models import Kind, KnownText
from core.domain.models.vectors import Embedded, Unembedded, Vector, VectorBacklog, VectorBatch
from core.knowledge.search.hits import SCANNED_CHARS
from core.knowledge.search.vectors import closeness, embedded_text, signs

EMBEDDED_CHARS = 4_000
LONGEST_PAUSE = 300.0
UNUSED_SECONDS = 86_400.0
# Measured: still all of the ten nearest documents, in 36 ms instead of 57 with 1,000.
_SHORTLIST = 500
_ENLISTED = 10_000  # documents per statement


class PostgresVectors:
    """The `Vectors` port: those of `model`, as EMBEDDING_MODEL names it."""

    def __init__(self, pool: Pool, model: str, *, shortlist: int = _SHORTLIST) -> None:
        self._pool = pool
        self._model = model
        self._shortlist = shortlist

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

        Those with the fewest differing signs (a shortlist of 500) are compared exactly.
        """
        params = {
            "model": self._model,
            "tenant_id": tenant_id,
            "agent_id": agent_id,
            "kind": kind,
            "among": None if among is None else [*among],
            "limit": limit,
            "found": self._shortlist,
            "dimension": len(vector),
            "signs": signs(vector),
            "embedding": _written(vector),
            "chars": SCANNED_CHARS,
        }
        rows = await fetch_all(self._pool, "vectors.nearest", **params)
        near = [(closeness(row.pop("similarity"), row.pop("noise")), row) for row in rows]
        return [
            KnownText(id=row.pop("item_id"), score=score, **row) for score, row in near if score > 0
        ]

    async def enlist(self) -> None:
        """Note that the model is in use, queue all that lacks a vector, forget models long unused.

        A model counts as unused after a day, so that two workers with different ones, as during a
        deployment, do not undo each other's work.
        """
        await execute(self._pool, "vectors.use", model=self._model)
        while (
            await execute(self._pool, "vectors.enlist", model=self._model, limit=_ENLISTED)
            == _ENLISTED
        ):
            pass
        await execute(self._pool, "vectors.forget", model=self._model, seconds=UNUSED_SECONDS)

    async def take(self, limit: int, seconds: float) -> VectorBatch | None:
        """Lease documents without a vector, newest first, with 4,000 characters of each."""
        params = {"limit": limit, "seconds": seconds, "chars": EMBEDDED_CHARS}
        rows = await fetch_all(self._pool, "vectors.take", model=self._model, **params)
        documents = [
            Unembedded(
                row["document_id"], row["revision"], embedded_text(row["name"], row["content"])
            )
            for row in rows
        ]
        return VectorBatch(tuple(documents), rows[0]["dimension"]) if rows else None

    async def begin(self, dimension: int, noise: float) -> None:
        params = {"model": self._model, "dimension": dimension, "noise": noise}
        async with transaction(self._pool) as conn:
            await conn.execute(sql("vectors.begin"), params)
            await conn.execute(sql("vectors.unembed"), params)

    async def put(self, made: Sequence[Embedded]) -> None:
        params = {
            "model": self._model,
            "documents": [one.document_id for one in made],
            "revisions": [one.revision for one in made],
            "signs": [signs(one.vector or ()) for one in made],
            "embeddings": [_written(one.vector) if one.vector else None for one in made],
        }
        async with transaction(self._pool) as conn:
            await conn.execute(sql("vectors.put"), params)
            await conn.execute(sql("vectors.release"), params)

    async def put_off(self, error: str, retry_after: float | None) -> float:
        found = await fetch_one(self._pool, "vectors.failures", model=self._model)
        failures = found["failures"] if found else 0
        pause = max(min(LONGEST_PAUSE, 2.0 ** min(failures, 20)), retry_after or 0.0)
        await execute(
            self._pool, "vectors.put_off", model=self._model, error=error[:500], pause=pause
        )
        return pause

    async def backlog(self) -> VectorBacklog:
        found = await fetch_one(self._pool, "vectors.backlog", model=self._model)
        assert found is not None
        others = tuple(found.pop("others"))
        return VectorBacklog(**found, model=self._model, others=others)


def _written(vector: Vector) -> str:
    """Format a vector as pgvector reads it."""
    return f"[{','.join(map(repr, vector))}]"
