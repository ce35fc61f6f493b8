"""What sources delivered and were told, and what a person does with the inbox, in memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

from core.domain.errors import Refused
from core.domain.models import Feedback, FeedbackStatus, Outcome, Pause, PauseKind, RunEvent
from core.domain.models.recorded_runs import Fork
from core.testing.determinism import ticking_clock
from core.testing.stores import MemoryInbox, MemoryJournal


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


class MemoryIntake:
    """Retry and cancel feedback of the inbox; `current` is the pause."""

    def __init__(
        self,
        inbox: MemoryInbox,
        *,
        journal: MemoryJournal | None = None,
        clock: Callable[[], datetime] | None = None,
    ) -> None:
        self.current: Pause | None = None
        self._inbox = inbox
        self._journal = journal or MemoryJournal()
        self._clock = clock or ticking_clock()

    async def revive(self, feedback_id: str, *, fork: Fork | None = None) -> Feedback:  # noqa: ARG002
        found = await self._inbox.get(feedback_id)
        if not found.status.is_end:
            raise Refused(f"feedback {feedback_id} has not ended: it is {found.status}")
        return self._inbox.queue_again(found)

    async def cancel(self, feedback_id: str, reason: str) -> Feedback:
        found = await self._inbox.get(feedback_id)
        if found.status.is_end:
            raise Refused(f"feedback {feedback_id} has ended: it is {found.status}")
        taken = self._inbox.take_off(found)
        await self._inbox.finish(taken, Outcome(status=FeedbackStatus.CANCELLED, error=reason))
        await self._journal.emit(
            RunEvent(
                name="feedback.cancelled",
                tenant_id=found.tenant_id,
                feedback_id=feedback_id,
                data={"error": reason},
            )
        )
        return await self._inbox.get(feedback_id)

    async def pause(self, reason: str) -> Pause:
        since = self.current.since if self.current else self._clock()
        known = self.current.reason if self.current else ""
        self.current = Pause(kind=PauseKind.PAUSED, reason=reason or known, since=since)
        await self._journal.emit(RunEvent(name="queue.paused", data={"reason": reason}))
        return self.current

    async def resume(self) -> bool:
        was_paused, self.current = self.current is not None, None
        if was_paused:
            await self._journal.emit(RunEvent(name="queue.resumed"))
        return was_paused

    async def paused(self) -> Pause | None:
        return self.current
