"""Queueing ended feedback again: one piece, or all with one status."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from core.domain.errors import Refused
from core.domain.models import Feedback, FeedbackFilter, FeedbackStatus
from core.domain.ports import Intake, Reader

_PAGE = 500


async def revive_all(
    intake: Intake,
    reader: Reader,
    statuses: Sequence[FeedbackStatus],
    tenant_id: str | None,
    on_progress: Callable[[int], None],
) -> list[Feedback]:
    """Queue all pieces with these statuses again (of a tenant); return them, newest first.

    Pieces that someone else revives meanwhile are left to them.
    """
    revived: list[Feedback] = []
    for status in statuses:
        wanted = FeedbackFilter(statuses=(status,), tenant_id=tenant_id)
        cursor: str | None = None
        while True:
            page, cursor = await reader.feedback(wanted, limit=_PAGE, cursor=cursor)
            for piece in page:
                revived += await _revive(intake, piece.id)
                on_progress(1)
            if cursor is None:
                break
    return revived


async def _revive(intake: Intake, feedback_id: str) -> list[Feedback]:
    try:
        return [await intake.revive(feedback_id)]
    except Refused:
        return []
