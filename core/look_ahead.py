"""A look ahead leaves nothing behind but its bill: the model was asked, and somebody pays."""

from __future__ import annotations

from pydantic import JsonValue

from core.models import NO_USAGE, RunEvent, Usage
from core.ports import Journal, Replies, Spending


class BilledReplies:
    """The `Replies` port over another that keeps nothing; each first reply is paid for."""

    def __init__(self, kept: Replies, spending: Spending) -> None:
        self._kept = kept
        self._spending = spending

    async def get(self, key: str, ordinal: int) -> tuple[JsonValue, Usage] | None:
        """Give a stored reply, or None."""
        return await self._kept.get(key, ordinal)

    async def put(
        self, key: str, ordinal: int, reply: JsonValue, usage: Usage, *, tenant_id: str
    ) -> None:
        """Store a reply; the first one stored stays, and is the one its tenant pays for."""
        if await self._kept.get(key, ordinal) is None:
            await self._spending.pay(tenant_id, key, usage)
        await self._kept.put(key, ordinal, reply, usage, tenant_id=tenant_id)

    async def usage(self, key_prefix: str) -> Usage:
        """Sum the usage of the replies whose key begins with `key_prefix`."""
        return await self._kept.usage(key_prefix)


class BilledJournal:
    """The `Journal` port over another that keeps nothing; what was spent is paid for."""

    def __init__(self, kept: Journal, spending: Spending) -> None:
        self._kept = kept
        self._spending = spending

    async def emit(self, event: RunEvent, spent: Usage = NO_USAGE) -> None:
        """Write one event; what was `spent` goes on the bill of its tenant's day."""
        if spent.model_calls:
            await self._spending.pay(event.tenant_id or "", event.candidate_id or "", spent)
        await self._kept.emit(event, spent)
