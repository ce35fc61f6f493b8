"""The order of pieces of feedback: which waits for which, and which is decided once more."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from core.domain.errors import Refused
from core.domain.models import Feedback, FeedbackStatus, Outline, RunEvent
from core.domain.ports import Conversations, Inbox, Intake, Journal
from core.knowledge.subjects import is_answer, may_concern


async def waits_its_turn(
    feedback: Feedback, earlier: Sequence[Outline], inbox: Inbox, journal: Journal
) -> bool:
    """Queue a piece behind one that was said before it and may be about the same; whether it was.

    So what was said last is decided last, and knows what the other taught. Other pieces run at the
    same time; what comes in late or is retried is put in its place by `settle`.
    """
    for found in earlier:
        if may_concern(feedback, found) and await inbox.wait_for(feedback, found.id):
            await _tell(feedback, "feedback.put_behind", journal, earlier_id=found.id)
            return True
    return False


async def ask_again(
    feedback: Feedback, later: Sequence[Outline], intake: Intake, journal: Journal
) -> None:
    """Queue again what was said later and found nothing to do, since this piece has come in late.

    "Delete that" found nothing to delete, which is there now. Each then waits for this piece's end.
    """
    for passed in later:
        if may_concern(passed, feedback):
            with suppress(Refused):  # somebody has queued it meanwhile
                found = await intake.revive(passed.id)
                await _tell(found, "feedback.asked_again", journal, because_of=feedback.id)


# Pieces for the same agents that are looked at, the latest first: what was said longer before has
# begun long ago, and each costs time where many wait for one agent.
MOST_BESIDE = 64


async def look_behind(
    feedback: Feedback, inbox: Inbox, intake: Intake, journal: Journal, *, has_changed: bool
) -> None:
    """Let pieces be decided again that were said after this one and missed it.

    What answers it had no meaning before, also where this one has changed nothing.
    """
    passed = await inbox.passed_over(feedback, MOST_BESIDE)
    missed = [one for one in passed if has_changed or is_answer(one, feedback)]
    if missed:
        await ask_again(feedback, missed, intake, journal)


@dataclass(frozen=True)
class Awaiting:
    """Whether what a piece answers is here, which may come in while the piece is in work."""

    inbox: Inbox
    intake: Intake
    conversations: Conversations

    async def is_missing(self, feedback: Feedback) -> bool:
        """Whether a piece answers one that is not here."""
        if feedback.in_reply_to is None:
            return False
        return not any(one.is_answered for one in await self.conversations.before(feedback, 1))

    async def look_again(self, feedback: Feedback, journal: Journal) -> None:
        """Queue a piece again that found nothing to do without what it answers, if that is here.

        That one has not seen it among those that came to nothing, if it ended before.
        """
        ended = await self.inbox.get(feedback.id)
        if ended.status is FeedbackStatus.NO_ACTION and not await self.is_missing(feedback):
            with suppress(Refused):  # what it answers has done so
                found = await self.intake.revive(feedback.id)
                await _tell(found, "feedback.asked_again", journal)


@dataclass(frozen=True)
class AskedAgain:
    """Queues feedback again on behalf of a person's decision; a worker's model decides."""

    inbox: Inbox
    intake: Intake
    journal: Journal

    async def again(self, feedback_id: str) -> None:
        """Queue a piece again. Raises NotFound, Refused."""
        found = await self.intake.revive(feedback_id)
        await _tell(found, "feedback.asked_again", self.journal)

    async def passed_over(self, feedback_id: str) -> None:
        """Queue what was said after a piece and found nothing to do."""
        feedback = await self.inbox.get(feedback_id)
        await look_behind(feedback, self.inbox, self.intake, self.journal, has_changed=True)


async def _tell(feedback: Feedback, name: str, journal: Journal, **data: str) -> None:
    await journal.emit(
        RunEvent(name=name, tenant_id=feedback.tenant_id, feedback_id=feedback.id, data=dict(data))
    )
