"""The `Intake` port in memory, over a `MemoryInbox`."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from core.domain.errors import Refused
from core.domain.models import Feedback, FeedbackStatus, Outcome, Pause, PauseKind, RunEvent
from core.testing.determinism import ticking_clock
from core.testing.inbox import MemoryInbox
from core.testing.journal import MemoryJournal


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

    async def revive(self, feedback_id: str) -> Feedback:
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
