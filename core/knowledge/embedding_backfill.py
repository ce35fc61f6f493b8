"""The background job that embeds documents: in batches, one worker at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

import structlog

from core.domain.errors import ConfigurationError, InvalidInput, ModelDown
from core.domain.models.vectors import Embedded, Unembedded, Vector, VectorBatch
from core.domain.ports import Embeddings, Vectors
from core.knowledge.search.vectors import noise

log = structlog.get_logger(__name__)

BATCH = 64
BATCH_CHARS = 60_000
CALL_SECONDS = 60.0
LEASE_SECONDS = 2 * CALL_SECONDS  # outlives one call; a dead worker blocks the job no longer
ENLIST_SECONDS = 600.0
SHORTEST_CHARS = 250
PROGRESS_SECONDS = 10.0  # between two lines about many documents that wait for their vectors
# Unrelated texts: the similarity a model finds among them is its noise floor.
UNRELATED = (
    "The cat sleeps on the warm windowsill.",
    "Quarterly revenue is reported on the fifth working day.",
    "Install the package and run the migration script.",
    "Volcanoes erupt when magma reaches the surface.",
    "She plays the violin in the city orchestra.",
    "The train to the coast leaves at noon.",
    "냉장고에 남은 반찬을 데워 먹었다.",
    "주문이 취소되면 고객에게 안내 메일을 보낸다.",
    "산 정상에서 바라본 일출이 아름다웠다.",
    "컴파일러가 타입 오류를 알려 준다.",
    "아이들이 운동장에서 축구를 한다.",
    "이 조약은 십구 세기에 체결되었다.",
)


class Backfill:
    """Embed every document without a vector; a failure postpones the job for all workers."""

    def __init__(
        self, vectors: Vectors, embeddings: Embeddings, *, clock: Callable[[], float]
    ) -> None:
        self._vectors = vectors
        self._embeddings = embeddings
        self._clock = clock
        self._enlist_at = float("-inf")
        self._enlist_pause = 1.0
        self._told_at = float("-inf")
        self._is_compared = False

    async def work(self) -> int:
        """Embed until nothing is left, another worker does, or the model fails; return how many.

        Called repeatedly; safe to cancel at any point. Raises DatabaseDown.
        """
        if self._clock() >= self._enlist_at:
            await self._enlist()
        if not self._is_compared:
            await self._tell_progress()
        try:
            done = await self._batches()
        except asyncio.CancelledError:
            await self._vectors.put([])  # ends the lease, so that no worker waits for it to expire
            raise
        if done:
            log.info("documents.embedded", count=done)
        return done

    async def _enlist(self) -> None:
        """Queue documents without a vector; often at first, for transactions open at the start."""
        await self._vectors.enlist()
        self._enlist_at = self._clock() + self._enlist_pause
        self._enlist_pause = min(ENLIST_SECONDS, 2 * self._enlist_pause)

    async def _tell_progress(self) -> None:
        """Log how many documents wait, if many; at first also which other models made vectors."""
        if self._clock() - self._told_at < PROGRESS_SECONDS:
            return
        self._told_at = self._clock()
        found = await self._vectors.backlog()
        if found.others and not self._is_compared:
            log.warning("embeddings.model_differs", model=found.model, others=[*found.others])
        self._is_compared = True
        if found.waiting > BATCH:
            log.info(
                "embeddings.filling",
                model=found.model,
                done=found.documents - found.waiting,
                documents=found.documents,
            )

    async def _batches(self) -> int:
        done = 0
        while batch := await self._vectors.take(BATCH, LEASE_SECONDS):
            if len(batch.documents) == BATCH:
                await self._tell_progress()
            made = await self._attempt(batch)
            if made is None:
                break
            done += made
        return done

    async def _attempt(self, batch: VectorBatch) -> int | None:
        """Embed one batch; return how many documents, None if the model failed."""
        try:
            made = await self._embed(batch)
        except (ModelDown, ConfigurationError, InvalidInput) as error:
            retry_after = error.retry_after if isinstance(error, ModelDown) else None
            pause = await self._vectors.put_off(error.message, retry_after)
            log.warning("embedding.failed", error=error.message, kind=error.kind, next_in=pause)
            return None
        await self._vectors.put(made)
        return len(made)

    async def _embed(self, batch: VectorBatch) -> list[Embedded]:
        documents = _bounded(batch.documents)
        vectors = await self._tolerant([document.text for document in documents])
        dimension = next((len(vector) for vector in vectors if vector), batch.dimension)
        if dimension is not None and dimension != batch.dimension:
            unrelated = await self._documents(UNRELATED)
            await self._vectors.begin(dimension, noise(unrelated))
        for document, vector in zip(documents, vectors, strict=True):
            if vector is None:
                log.warning("document.unembedded", document=document.document_id)
        return [
            Embedded(document.document_id, document.revision, vector)
            for document, vector in zip(documents, vectors, strict=True)
        ]

    async def _tolerant(self, texts: Sequence[str]) -> list[Vector | None]:
        """Embed texts; bisect a batch that the model refuses, and shorten a text refused alone."""
        try:
            return [*await self._documents(texts)]
        except InvalidInput:
            if len(texts) == 1:
                return [await self._shortened(texts[0])]
        middle = len(texts) // 2
        return await self._tolerant(texts[:middle]) + await self._tolerant(texts[middle:])

    async def _shortened(self, text: str) -> Vector | None:
        """Embed the beginning of an overlong text, None if no part of it is accepted.

        Raises InvalidInput if the model accepts no text at all.
        """
        while len(text) > SHORTEST_CHARS:
            text = text[: len(text) // 2]
            try:
                return (await self._documents([text]))[0]
            except InvalidInput:
                continue
        await self._documents(UNRELATED[:1])
        return None

    async def _documents(self, texts: Sequence[str]) -> Sequence[Vector]:
        return await self._embeddings.embed_documents(texts)


def _bounded(documents: Sequence[Unembedded]) -> list[Unembedded]:
    """Return the first documents with at most 60,000 characters together."""
    chosen: list[Unembedded] = []
    chars = 0
    for document in documents:
        chars += len(document.text)
        if chosen and chars > BATCH_CHARS:
            break
        chosen.append(document)
    return chosen
