"""Model replies outside the ReAct thread as rows, so that none is paid for twice."""

from __future__ import annotations

from psycopg.types.json import Jsonb
from pydantic import JsonValue

from core.adapters.postgres.journal import bill
from core.adapters.postgres.queries import Pool, execute, fetch_one
from core.adapters.postgres.rows import usage_of
from core.agent.prices import UNBILLED, Billing
from core.agent.reply_keys import reply_event
from core.domain.models import Usage
from core.domain.observers import nobody
from core.domain.ports import Observer


class PostgresReplies:
    """The `Replies` port; `observe` is told each reply's cost, even of one that came too late."""

    def __init__(self, pool: Pool, observe: Observer = nobody, billing: Billing = UNBILLED) -> None:
        self._pool = pool
        self._observe = observe
        self._billing = billing

    async def get(self, key: str, ordinal: int) -> tuple[JsonValue, Usage] | None:
        row = await fetch_one(self._pool, "replies.get", key=key, ordinal=ordinal)
        return (row["reply"], usage_of(row)) if row else None

    async def put(
        self, key: str, ordinal: int, reply: JsonValue, usage: Usage, *, tenant_id: str
    ) -> None:
        row = {"key": key, "ordinal": ordinal, "reply": Jsonb(reply)}
        params = {**row, **bill(self._billing, tenant_id, usage)}
        await execute(self._pool, "replies.put", **params)
        self._observe(reply_event(key, ordinal, usage), usage)

    async def usage(self, key_prefix: str) -> Usage:
        row = await fetch_one(self._pool, "replies.usage", key_prefix=key_prefix)
        return usage_of(row) if row else Usage()
