"""Stored answers to calls with an idempotency key."""

from __future__ import annotations

from core.adapters.postgres.queries import Pool, connection, execute, sql
from core.domain.models.access import Answer

DEAD_SECONDS = 60.0  # a call in progress for longer is dead
KEEP_SECONDS = 24 * 3600.0


class PostgresAnswers:
    """The `Answers` port."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def begin(self, owner: str, key: str, digest: str) -> Answer | None:
        params = {
            "owner": owner,
            "key": key,
            "digest": digest,
            "dead_seconds": DEAD_SECONDS,
            "keep_seconds": KEEP_SECONDS,
        }
        async with connection(self._pool) as conn:
            while not (await conn.execute(sql("access.begin_answer"), params)).rowcount:
                row = await (await conn.execute(sql("access.answer"), params)).fetchone()
                if row is not None:  # else it was forgotten in between
                    return Answer.model_validate(dict(row))
        return None

    async def end(self, owner: str, key: str, answer: Answer) -> None:
        await execute(self._pool, "access.end_answer", owner=owner, key=key, **answer.model_dump())

    async def forget(self, owner: str, key: str) -> None:
        await execute(self._pool, "access.forget_answer", owner=owner, key=key)
