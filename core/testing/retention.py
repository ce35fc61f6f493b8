"""The `Retention` port in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from core.agent.reply_keys import candidate_prefix, matching_prefix, pruned_key
from core.domain.models import Candidate, Feedback, FeedbackStatus
from core.testing.determinism import ticking_clock
from core.testing.inbox import MemoryInbox
from core.testing.journal import MemoryJournal
from core.testing.replies import MemoryReplies
from core.testing.runs import MemoryRuns

if TYPE_CHECKING:
    from langgraph.checkpoint.memory import InMemorySaver


class MemoryRetention:
    """Forgets what the other stores in memory hold of a piece."""

    def __init__(
        self,
        *,
        inbox: MemoryInbox,
        runs: MemoryRuns,
        replies: MemoryReplies,
        journal: MemoryJournal,
        saver: InMemorySaver,
        clock: Callable[[], datetime] | None = None,
    ) -> None:
        self._inbox = inbox
        self._runs = runs
        self._replies = replies
        self._journal = journal
        self._saver = saver
        self._clock = clock or ticking_clock()
        self._pruned: set[tuple[str, int]] = set()  # (feedback id, generation)

    async def prune(self, seconds: float) -> int:
        before = self._clock() - timedelta(seconds=seconds)
        ended = [piece for piece in self._inbox.feedback.values() if self._is_due(piece, before)]
        for piece in ended:
            await self._forget(piece)
        return len(ended)

    def _is_due(self, piece: Feedback, before: datetime) -> bool:
        if piece.finished_at is None or piece.status is FeedbackStatus.HELD:
            return False
        return piece.finished_at < before and (piece.id, piece.generation) not in self._pruned

    async def _forget(self, piece: Feedback) -> None:
        candidates = await self._runs.candidates(piece.id)
        for thread in _threads(piece, candidates):
            await self._saver.adelete_thread(thread)
        prefixes = [matching_prefix(piece.id), *(candidate_prefix(c.id) for c in candidates)]
        self._replies.fold(pruned_key(piece.id), prefixes)
        self._journal.events[:] = [e for e in self._journal.events if e.feedback_id != piece.id]
        self._pruned.add((piece.id, piece.generation))


def _threads(piece: Feedback, candidates: Sequence[Candidate]) -> Iterator[str]:
    for candidate in candidates:
        for generation in range(1, piece.generation + 1):
            yield f"{candidate_prefix(candidate.id)}{generation}"
