"""Look back on what ended: which complaints came back although what they taught was delivered."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from core.domain.models.effect import Came, Complaint, EndedPiece, Lesson
from core.domain.models.knowledge import Kind
from core.domain.ports import LookBack, Search
from core.knowledge.duplicates import is_repeated
from core.knowledge.usage.config import EffectRules

PIECES = 200  # a round
MOST_FOLDED = 10_000  # counters a look
NEAREST = 20  # items that a piece is compared with
EARLIER_DAYS, EARLIER = 90, 500  # what was said before an item was learnt, and how much of it


@dataclass(frozen=True, kw_only=True)
class LookingBack:
    """Compares ended feedback with what taught known items; proposes what to do about them.

    It runs beside the work, and may run in several workers: what one finds twice is stored once.
    """

    log: LookBack
    search: Search
    rules: EffectRules
    now: Callable[[], datetime]

    async def work(self) -> None:
        """Look at all that has ended since, and write the proposals that are due."""
        await self.look()
        await self.propose()
        await self.fold()

    async def look(self) -> int:
        """Look at what has ended since, until there is no more; return how many pieces."""
        looked = 0
        while True:
            pieces = await self.log.ended(self.now(), limit=PIECES)
            for piece in pieces:
                await self.log.looked(piece.finished_at, await self.complaints(piece))
            looked += len(pieces)
            if len(pieces) < PIECES:
                return looked

    async def propose(self) -> int:
        """Write the proposals that are due, and return how many; nothing is done by itself."""
        return await self.log.propose(
            self.now(), unused_days=self.rules.unused_days, recurring=self.rules.recurring
        )

    async def fold(self) -> int:
        """Add up uses of days that are told apart no more, and return how many there were.

        At most one batch a look: what is more has time.
        """
        before = self.now().astimezone(UTC).date() - timedelta(days=self.rules.keep_days)
        return await self.log.fold(before, limit=MOST_FOLDED)

    async def complaints(self, piece: EndedPiece) -> Sequence[Complaint]:
        """Return the complaints of a piece, and those before it that are near what it taught."""
        found: list[Complaint] = []
        for agent_id in piece.agent_ids:
            found += await self._again(piece, agent_id)
            for lesson in await self.log.taught_by(piece.id, agent_id):
                found.append(_complaint(piece, agent_id, lesson, Came.BEFORE))
                found += await self._before(piece, agent_id, lesson)
        return found

    async def _again(self, piece: EndedPiece, agent_id: str) -> Sequence[Complaint]:
        """Return which items the piece complains of again: each is near what taught it."""
        hits = await self.search.search(
            piece.content, tenant_id=piece.tenant_id, agent_id=agent_id, kind=None, limit=NEAREST
        )
        items = [(hit.kind, hit.id) for hit in hits]
        lessons = await self.log.lessons(piece.tenant_id, agent_id, items) if items else ()
        found: dict[tuple[Kind, str], Complaint] = {}
        for lesson in lessons:
            item = (lesson.kind, lesson.item_id)
            is_later = lesson.feedback_id != piece.id and lesson.learnt_at < piece.said_at
            if item not in found and is_later and is_repeated(piece.content, lesson.words):
                is_back = lesson.reached_at is not None and lesson.reached_at < piece.said_at
                came = Came.BACK if is_back else Came.UNREACHED
                found[item] = _complaint(piece, agent_id, lesson, came)
        return [*found.values()]

    async def _before(
        self, piece: EndedPiece, agent_id: str, lesson: Lesson
    ) -> Sequence[Complaint]:
        within = timedelta(days=EARLIER_DAYS)
        earlier = await self.log.earlier(piece, agent_id, within=within, limit=EARLIER)
        return [
            _complaint(one, agent_id, lesson, Came.BEFORE)
            for one in earlier
            if is_repeated(one.content, lesson.words)
        ]


def _complaint(piece: EndedPiece, agent_id: str, lesson: Lesson, came: Came) -> Complaint:
    return Complaint(
        tenant_id=piece.tenant_id,
        agent_id=agent_id,
        kind=lesson.kind,
        item_id=lesson.item_id,
        feedback_id=piece.id,
        said_at=piece.said_at,
        came=came,
    )
