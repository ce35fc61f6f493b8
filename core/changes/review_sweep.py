"""Reminders for held changes, and their expiry after a configured time."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime

from core.changes.gate.decisions import Decisions
from core.changes.gate.records import event
from core.domain.errors import Stale
from core.domain.messages import Message
from core.domain.ports import Journal, Reviews

EXPIRY = "expiry"


def _now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, kw_only=True)
class ReviewSweep:
    """Times are in seconds, None disables. Expiry rejects a change, it never applies one."""

    reviews: Reviews
    decisions: Decisions
    journal: Journal
    remind_after: float | None
    expire_after: float | None
    now: Callable[[], datetime] = _now

    async def work(self) -> None:
        """Reject expired changes, then remind of those long held."""
        if self.expire_after is not None:
            await self._expire(self.expire_after)
        if self.remind_after is not None:
            await self._remind(self.remind_after)

    async def _expire(self, seconds: float) -> None:
        reason = Message("review.expired", days=seconds / 86_400)
        for change in await self.reviews.overdue(seconds):
            with suppress(Stale):  # decided or edited meanwhile
                await self.decisions.reject(
                    change.id, by=EXPIRY, reason=reason, seen=change.content_hash
                )

    async def _remind(self, seconds: float) -> None:
        for change in await self.reviews.remind(seconds):
            waited = (self.now() - (change.prepared_at or self.now())).total_seconds()
            await self.journal.emit(event("change.reminded", change, waited_seconds=round(waited)))
