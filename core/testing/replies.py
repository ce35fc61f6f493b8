"""The `Replies` port in memory."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import JsonValue

from core.agent.reply_keys import folded_key, is_folded, reply_event
from core.domain.models import Usage
from core.domain.observers import nobody
from core.domain.ports import Observer
from core.testing.ledger import Ledger


class MemoryReplies:
    """Replies by (key, ordinal)."""

    def __init__(self, observe: Observer = nobody, ledger: Ledger | None = None) -> None:
        self._observe = observe
        self._ledger = ledger or Ledger()
        self.stored: dict[tuple[str, int], tuple[JsonValue, Usage]] = {}

    async def get(self, key: str, ordinal: int) -> tuple[JsonValue, Usage] | None:
        return self.stored.get((key, ordinal))

    async def put(
        self, key: str, ordinal: int, reply: JsonValue, usage: Usage, *, tenant_id: str
    ) -> None:
        if (key, ordinal) not in self.stored:
            self._ledger.pay(tenant_id, usage)
        self._ledger.release(key)
        self.stored.setdefault((key, ordinal), (reply, usage))
        self._observe(reply_event(key, ordinal, usage), usage)

    async def usage(self, key_prefix: str) -> Usage:
        found = [
            spent for (key, _), (_, spent) in self.stored.items() if key.startswith(key_prefix)
        ]
        return sum(found, Usage())

    def fold(self, key: str, prefixes: Sequence[str]) -> None:
        """Forget the replies under these prefixes; sum their usage under `key` or the author's."""
        for at in [at for at in self.stored if at[0].startswith(tuple(prefixes))]:
            if at[0] == key or is_folded(at[0]):
                continue
            target = folded_key(at[0], key), 0
            _, already = self.stored.get(target, (None, Usage()))
            self.stored[target] = (None, already + self.stored.pop(at)[1])
