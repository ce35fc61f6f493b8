"""Deletes what runs stored for resuming after a crash, long after their feedback has ended."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import structlog
from psycopg.rows import DictRow

from core.adapters.postgres.answers import KEEP_SECONDS
from core.adapters.postgres.queries import Connection, Pool, execute, sql, transaction
from core.agent.reply_keys import candidate_prefix, kept_key, matching_prefix

log = structlog.get_logger(__name__)

BATCH = 500
_THREAD_BLOCKS = (
    "retention.drop_checkpoints",
    "retention.drop_checkpoint_blobs",
    "retention.drop_checkpoint_writes",
)


class PostgresRetention:
    """The `Retention` port. Each batch is a short transaction, so nobody waits for it."""

    def __init__(self, pool: Pool, *, batch: int = BATCH) -> None:
        self._pool = pool
        self._batch = batch

    async def prune(self, seconds: float) -> int:
        pruned = 0
        while done := await self._prune_batch(seconds):
            pruned += done
        if pruned:
            log.info("feedback.pruned", count=pruned)
        params = {"seconds": seconds, "limit": 10 * self._batch}
        await execute(self._pool, "retention.drop_events_of_nothing", **params)
        await execute(self._pool, "access.prune_tokens")
        await execute(self._pool, "access.prune_answers", keep_seconds=KEEP_SECONDS)
        return pruned

    async def _prune_batch(self, seconds: float) -> int:
        async with transaction(self._pool) as conn:
            acquired = await (await conn.execute(sql("retention.try_lock"))).fetchone()
            if not acquired or not acquired["acquired"]:
                return 0
            params = {"seconds": seconds, "limit": self._batch}
            ended = await (await conn.execute(sql("retention.ended"), params)).fetchall()
            if ended:
                await _forget(conn, ended)
            return len(ended)


async def _forget(conn: Connection, ended: Sequence[DictRow]) -> None:
    threads = {"threads": [thread for row in ended for thread in _threads(row)]}
    for block in _THREAD_BLOCKS:
        await conn.execute(sql(block), threads)
    feedback_ids = {"feedback_ids": [row["id"] for row in ended]}
    await conn.execute(sql("retention.drop_events"), feedback_ids)
    parts = [(kept_key(row["id"]), prefix) for row in ended for prefix in _prefixes(row)]
    keys, prefixes = zip(*parts, strict=True)
    params = {"kept_keys": list(keys), "prefixes": list(prefixes)}
    await conn.execute(sql("retention.fold_replies"), params)
    await conn.execute(sql("retention.mark"), feedback_ids)


def _threads(row: DictRow) -> Iterator[str]:
    """Yield the threads that a piece may have had, in all its generations."""
    for candidate_id in row["candidate_ids"]:
        for generation in range(1, row["generation"] + 1):
            yield f"{candidate_prefix(candidate_id)}{generation}"


def _prefixes(row: DictRow) -> Iterator[str]:
    yield matching_prefix(row["id"])
    yield from map(candidate_prefix, row["candidate_ids"])
