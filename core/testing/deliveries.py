"""What sources delivered and were told, over the fake inbox."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from core.domain.models import Feedback, FeedbackStatus
from core.testing.stores import MemoryInbox


class MemoryDeliveries:
    """Read an inbox in memory; `told` has the outcomes that a source knows."""

    def __init__(self, inbox: MemoryInbox) -> None:
        self._inbox = inbox
        self.told: set[tuple[str, int, int, FeedbackStatus]] = set()

    async def known(self, source: str, source_ids: Sequence[str]) -> Mapping[str, FeedbackStatus]:
        wanted = set(source_ids)
        return {
            piece.source_id: piece.status for piece in self._of(source) if piece.source_id in wanted
        }

    async def unacknowledged(self, source: str, limit: int) -> Sequence[Feedback]:
        ended = [piece for piece in self._of(source) if piece.status.is_end]
        untold = [piece for piece in ended if _end(piece) not in self.told]
        return sorted(untold, key=lambda piece: str(piece.finished_at))[:limit]

    async def acknowledged(self, ended: Feedback) -> None:
        if _end(await self._inbox.get(ended.id)) == _end(ended):
            self.told.add(_end(ended))

    def _of(self, source: str) -> list[Feedback]:
        return [piece for piece in self._inbox.feedback.values() if piece.source == source]


def _end(piece: Feedback) -> tuple[str, int, int, FeedbackStatus]:
    return piece.id, piece.generation, piece.epoch, piece.status
