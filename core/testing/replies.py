"""The `Replies` port in memory."""

from __future__ import annotations

from pydantic import JsonValue

from core.models import Usage


class MemoryReplies:
    """Replies by (key, ordinal)."""

    def __init__(self) -> None:
        self.stored: dict[tuple[str, int], tuple[JsonValue, Usage]] = {}

    async def get(self, key: str, ordinal: int) -> tuple[JsonValue, Usage] | None:
        """Give a stored reply, or None."""
        return self.stored.get((key, ordinal))

    async def put(self, key: str, ordinal: int, reply: JsonValue, usage: Usage) -> None:
        """Store a reply; the first one stored stays."""
        self.stored.setdefault((key, ordinal), (reply, usage))

    async def usage(self, key_prefix: str) -> Usage:
        """Sum the usage of the replies whose key begins with `key_prefix`."""
        found = [
            spent for (key, _), (_, spent) in self.stored.items() if key.startswith(key_prefix)
        ]
        return sum(found, Usage())
