"""Model replies outside the ReAct thread as rows: what was paid for once is not paid again."""

from __future__ import annotations

from psycopg.types.json import Jsonb
from pydantic import JsonValue

from core.models import Usage
from core.observers import nobody
from core.ports import Observer
from core.postgres.queries import Pool, execute, fetch_one
from core.postgres.rows import usage_of
from core.reply_keys import reply_event


class PostgresReplies:
    """The `Replies` port; `observe` is told what each reply cost, also one that came too late."""

    def __init__(self, pool: Pool, observe: Observer = nobody) -> None:
        self._pool = pool
        self._observe = observe

    async def get(self, key: str, ordinal: int) -> tuple[JsonValue, Usage] | None:
        """Give a stored reply, or None."""
        row = await fetch_one(self._pool, "replies.get", key=key, ordinal=ordinal)
        return (row["reply"], usage_of(row)) if row else None

    async def put(self, key: str, ordinal: int, reply: JsonValue, usage: Usage) -> None:
        """Store a reply; the first one stored stays."""
        row = {"key": key, "ordinal": ordinal, "reply": Jsonb(reply), **usage.model_dump()}
        await execute(self._pool, "replies.put", **row)
        self._observe(reply_event(key, ordinal, usage), usage)

    async def usage(self, key_prefix: str) -> Usage:
        """Sum the usage of the replies whose key begins with `key_prefix`."""
        row = await fetch_one(self._pool, "replies.usage", key_prefix=key_prefix)
        return usage_of(row) if row else Usage()
