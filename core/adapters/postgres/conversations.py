"""The conversation before a piece of feedback, read from the inbox and what was learnt of it."""

from __future__ import annotations

from collections.abc import Sequence

from psycopg.rows import DictRow

from core.adapters.postgres.queries import Pool, connection, sql
from core.domain.models import EarlierPiece, Feedback, Lesson

CHARS = 4_000  # of a text; what is shown to a model is cut further

_PIECE = {"id", "said_at", "author", "content", "output", "is_answered"}


class PostgresConversations:
    """The `Conversations` port."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def before(self, feedback: Feedback, limit: int) -> Sequence[EarlierPiece]:
        """Return what was said before, newest first; without a thread or an answer, nothing."""
        if feedback.thread is None and feedback.in_reply_to is None:
            return ()
        given = ("id", "source", "tenant_id", "in_reply_to", "thread", "said_at", "created_at")
        params = {**feedback.picked(*given), "limit": limit, "chars": CHARS}
        async with connection(self._pool) as conn:
            found = await (await conn.execute(sql("conversations.before"), params)).fetchall()
            if not found:
                return ()
            asked = {"ids": [row["id"] for row in found], "tenant_id": feedback.tenant_id}
            taught = await conn.execute(sql("conversations.taught"), {**asked, "chars": CHARS})
            lessons = await taught.fetchall()
        pieces = [_piece(row, lessons) for row in found]
        return sorted(pieces, key=_when, reverse=True)


def _piece(row: DictRow, lessons: Sequence[DictRow]) -> EarlierPiece:
    own = [lesson for lesson in lessons if lesson["feedback_id"] == row["id"]]
    return EarlierPiece(
        **{name: row[name] for name in _PIECE},
        taught=tuple(
            Lesson(**{name: lesson[name] for name in Lesson.model_fields}) for lesson in own
        ),
    )


def _when(piece: EarlierPiece) -> tuple[str, str]:
    return piece.said_at.isoformat() if piece.said_at else "", piece.id
