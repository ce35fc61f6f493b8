"""The `Replies` port in memory."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import JsonValue

from core.models import Usage
from core.observers import nobody
from core.ports import Observer
from core.reply_keys import reply_event


class MemoryReplies:
    """Replies by (key, ordinal)."""

    def __init__(self, observe: Observer = nobody) -> None:
        self._observe = observe
        self.stored: dict[tuple[str, int], tuple[JsonValue, Usage]] = {}

    async def get(self, key: str, ordinal: int) -> tuple[JsonValue, Usage] | None:
        """Give a stored reply, or None."""
        return self.stored.get((key, ordinal))

    async def put(self, key: str, ordinal: int, reply: JsonValue, usage: Usage) -> None:
        """Store a reply; the first one stored stays."""
        self.stored.setdefault((key, ordinal), (reply, usage))
        self._observe(reply_event(key, ordinal, usage), usage)

    async def usage(self, key_prefix: str) -> Usage:
        """Sum the usage of the replies whose key begins with `key_prefix`."""
        found = [
            spent for (key, _), (_, spent) in self.stored.items() if key.startswith(key_prefix)
        ]
        return sum(found, Usage())

    def fold(self, kept: str, prefixes: Sequence[str]) -> None:
        """Forget the replies whose key begins so; their usage is added to the one under `kept`."""
        gone = [at for at in self.stored if at[0] != kept and at[0].startswith(tuple(prefixes))]
        if gone:
            _, already = self.stored.get((kept, 0), (None, Usage()))
            spent = sum((self.stored.pop(at)[1] for at in gone), already)
            self.stored[kept, 0] = (None, spent)
