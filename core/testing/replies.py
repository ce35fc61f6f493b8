"""The `Replies` port in memory."""

from __future__ import annotations

from pydantic import JsonValue

from core.agent.reply_keys import reply_event
from core.domain.models import Usage
from core.domain.observers import nobody
from core.domain.ports import Observer


class MemoryReplies:
    """Replies by (key, ordinal)."""

    def __init__(self, observe: Observer = nobody) -> None:
        self._observe = observe
        self.stored: dict[tuple[str, int], tuple[JsonValue, Usage]] = {}

    async def get(self, key: str, ordinal: int) -> tuple[JsonValue, Usage] | None:
        return self.stored.get((key, ordinal))

    async def put(
        self, key: str, ordinal: int, reply: JsonValue, usage: Usage, *, tenant_id: str
    ) -> None:
        del tenant_id
        self.stored.setdefault((key, ordinal), (reply, usage))
        self._observe(reply_event(key, ordinal, usage), usage)

    async def usage(self, key_prefix: str) -> Usage:
        found = [
            spent for (key, _), (_, spent) in self.stored.items() if key.startswith(key_prefix)
        ]
        return sum(found, Usage())
