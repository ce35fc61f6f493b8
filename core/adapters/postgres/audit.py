"""What is on record for auditors: chains of digests, to which triggers append, and calls."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

import structlog
from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

from core.adapters.postgres.queries import Pool, execute, fetch_all
from core.domain.models.audit import Call, CallFilter, ChainEntry, ChainHead
from core.domain.paging import Position, decode_cursor, encode_cursor, query_digest

PAGE = 1000
MOST_UNCHAINED = 1000

log = structlog.get_logger(__name__)


class PostgresAudit:
    """The `Audit` port."""

    def __init__(self, pool: Pool, *, page: int = PAGE) -> None:
        self._pool = pool
        self._page = page

    async def entries(self, tenant_id: str | None) -> AsyncIterator[ChainEntry]:
        tenant, seq = "", 0
        while True:
            rows = await fetch_all(
                self._pool,
                "audit.entries",
                tenant=tenant,
                seq=seq,
                only=tenant_id,
                limit=self._page,
            )
            for row in rows:
                yield _entry(row)
            if len(rows) < self._page:
                return
            tenant, seq = rows[-1]["tenant_id"], rows[-1]["seq"]

    async def unchained(self, tenant_id: str | None) -> Sequence[tuple[str, str, str]]:
        rows = await fetch_all(self._pool, "audit.unchained", only=tenant_id, limit=MOST_UNCHAINED)
        return [(row["tenant_id"], row["kind"], row["id"]) for row in rows]

    async def heads(self, tenant_id: str | None) -> Sequence[ChainHead]:
        rows = await fetch_all(self._pool, "audit.heads", only=tenant_id)
        return [ChainHead.model_validate(row) for row in rows]

    async def log_heads(self, seconds: float) -> int:
        rows = await fetch_all(self._pool, "audit.log_heads", seconds=seconds)
        for row in rows:
            log.info("history.head_logged", **row)
        return len(rows)


def _entry(row: DictRow) -> ChainEntry:
    is_there = row.pop("is_there")
    return ChainEntry.model_validate(row if is_there else {**row, "facts": None, "contents": None})


_LAST_ID = 2**63 - 1


class PostgresCalls:
    """The `Calls` port."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def add(self, calls: Sequence[Call]) -> None:
        rows = [call.model_dump(mode="json", exclude={"id"}) for call in calls]
        if rows:
            await execute(self._pool, "audit.add_calls", calls=Jsonb(rows))

    async def page(
        self, wanted: CallFilter, *, limit: int, cursor: str | None
    ) -> tuple[Sequence[Call], str | None]:
        digest = query_digest("calls", wanted)
        after = decode_cursor(cursor, digest) if cursor else None
        position = {"at": after.at, "id": int(after.id)} if after else _NEWEST
        rows = await fetch_all(
            self._pool, "audit.calls", **wanted.model_dump(), **position, limit=limit + 1
        )
        calls = [Call.model_validate(row) for row in rows[:limit]]
        if len(rows) <= limit:
            return calls, None
        return calls, encode_cursor(Position(calls[-1].at, str(calls[-1].id)), digest)

    async def prune(self, seconds: float) -> int:
        return await execute(self._pool, "audit.prune_calls", seconds=seconds)


_NEWEST: dict[str, object] = {"at": "infinity", "id": _LAST_ID}
