"""The `Vectors` port in memory: every vector is compared."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from core.domain.models import Kind, KnownText
from core.domain.models.vectors import Embedded, Unembedded, Vector, VectorBatch
from core.knowledge.search.documents import SearchDocument
from core.knowledge.search.vectors import closeness, cosine, embedded_text

_Key = tuple[str, Kind, str]


@dataclass
class _Row:
    id: int
    document: SearchDocument
    revision: int = 1
    vector: Vector | None = None
    is_done: bool = False


class MemoryVectors:
    """Vectors of the documents that were `put_document`; time is `clock`'s, in seconds."""

    def __init__(self, clock: Callable[[], float] = lambda: 0.0) -> None:
        self._rows: dict[_Key, _Row] = {}
        self._count = 0
        self._clock = clock
        self._dimension: int | None = None
        self._noise = 0.0
        self._due_at = float("-inf")
        self._failures = 0

    def put_document(self, document: SearchDocument) -> None:
        """Let a document be embedded, anew where it has changed."""
        key = (document.tenant_id, document.kind, document.item_id)
        held = self._rows.get(key)
        if held is None:
            self._count += 1
            self._rows[key] = _Row(self._count, document)
        elif held.document != document:
            self._rows[key] = _Row(held.id, document, held.revision + 1)

    def drop_document(self, tenant_id: str, kind: Kind, item_id: str) -> None:
        """Forget a document; absent already is fine."""
        self._rows.pop((tenant_id, kind, item_id), None)

    async def nearest(
        self, vector: Vector, *, tenant_id: str, agent_id: str | None, kind: Kind | None, limit: int
    ) -> Sequence[KnownText]:
        found = [
            (closeness(cosine(vector, row.vector), self._noise), row.document)
            for row in self._rows.values()
            if row.vector is not None
            and len(row.vector) == len(vector)
            and row.document.tenant_id == tenant_id
            and kind in {None, row.document.kind}
            and (agent_id is None or row.document.agent_id in {None, agent_id})
        ]
        found.sort(key=lambda pair: -pair[0])
        return [_known(document, score) for score, document in found[:limit] if score > 0]

    async def enlist(self) -> None:
        """Documents list themselves here."""

    async def take(self, limit: int, seconds: float) -> VectorBatch | None:
        waiting = sorted(
            (row for row in self._rows.values() if not row.is_done), key=lambda row: -row.id
        )
        if not waiting or self._clock() < self._due_at:
            return None
        self._due_at = self._clock() + seconds
        documents = [Unembedded(row.id, row.revision, _text(row)) for row in waiting]
        return VectorBatch(tuple(documents[:limit]), self._dimension)

    async def begin(self, dimension: int, noise: float) -> None:
        self._dimension, self._noise = dimension, noise
        for row in self._rows.values():
            if len(row.vector or ()) != dimension:
                row.vector, row.is_done = None, False

    async def put(self, made: Sequence[Embedded]) -> None:
        rows = {(row.id, row.revision): row for row in self._rows.values()}
        for one in made:
            row = rows.get((one.document_id, one.revision))
            if row is not None:
                row.vector, row.is_done = one.vector, True
        self._due_at, self._failures = float("-inf"), 0

    async def put_off(self, error: str, retry_after: float | None) -> float:
        del error
        pause = max(min(300.0, 2.0 ** min(self._failures, 20)), retry_after or 0.0)
        self._failures += 1
        self._due_at = self._clock() + pause
        return pause


def _text(row: _Row) -> str:
    return embedded_text(row.document.name, row.document.content)


def _known(document: SearchDocument, score: float) -> KnownText:
    return KnownText(
        id=document.item_id,
        kind=document.kind,
        name=document.name,
        agent_id=document.agent_id,
        content=document.content,
        score=score,
    )
