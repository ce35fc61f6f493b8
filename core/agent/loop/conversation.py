"""Feedback and the conversation around it as data for a model: bounded, the newest first."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, tzinfo

from pydantic import JsonValue

from core.domain.messages import Message
from core.domain.models import SETUP, ChangeStatus, EarlierPiece, Feedback, Hit, Lesson
from core.domain.ports import Conversations
from core.domain.text import compact, shorten

PIECES = 8
PIECE_CHARS = 1_500
OUTPUT_CHARS = 3_000
EARLIER_OUTPUT_CHARS = 1_000
LESSONS = 10
LESSON_CHARS = 600


async def earlier_pieces(
    feedback: Feedback, conversations: Conversations
) -> Sequence[EarlierPiece]:
    """Return what was said before a piece, newest first; nothing for one that stands alone."""
    if feedback.in_reply_to is None and feedback.thread is None:
        return ()
    return await conversations.before(feedback, PIECES)


def feedback_data(feedback: Feedback, content: str, zone: tzinfo = UTC) -> dict[str, JsonValue]:
    """Return feedback as shown to a model: times in `zone`, the output it is about cut."""
    data: dict[str, JsonValue] = {
        "text": content,
        "task": feedback.task,
        "author": feedback.author,
    }
    data |= {"setup": True} if feedback.source == SETUP else {}
    data |= {"said_at": _shown(feedback.said_at, zone)} if feedback.said_at else {}
    data |= {"today": _day(feedback.claimed_at, zone)} if feedback.claimed_at else {}
    return data | _output(feedback.output, OUTPUT_CHARS)


def conversation_data(
    pieces: Sequence[EarlierPiece], zone: tzinfo = UTC, *, agent_id: str | None = None
) -> list[JsonValue]:
    """Return the earlier pieces as shown to a model, newest first.

    With an agent: what each taught that one, else what it taught anybody.
    """
    return [_piece(piece, zone, agent_id) for piece in pieces]


def taught_hits(pieces: Sequence[EarlierPiece], agent_id: str) -> list[Hit]:
    """Return the items as they stand that these pieces taught an agent, newest first, each once."""
    found: dict[str, Hit] = {}
    for piece in pieces:
        for lesson in reversed(piece.taught):
            if lesson.agent_id == agent_id and lesson.known is not None:
                found.setdefault(f"{lesson.kind} {lesson.id}", _hit(lesson))
    return list(found.values())


def _hit(lesson: Lesson) -> Hit:
    return Hit(
        id=lesson.id,
        kind=lesson.kind,
        name=lesson.name,
        excerpt=shorten(lesson.known or "", LESSON_CHARS),
        score=1.0,
        agent_id=lesson.agent_id,
        why=Message("hit.taught_before"),
    )


def _piece(piece: EarlierPiece, zone: tzinfo, agent_id: str | None) -> dict[str, JsonValue]:
    lessons = [one for one in piece.taught if agent_id in {None, one.agent_id}]
    return {
        "text": shorten(piece.content, PIECE_CHARS),
        "author": piece.author,
        **({"said_at": _shown(piece.said_at, zone)} if piece.said_at else {}),
        **({"answered": True} if piece.is_answered else {}),
        **_output(piece.output, EARLIER_OUTPUT_CHARS),
        "taught": [_lesson(lesson, with_agent=agent_id is None) for lesson in lessons[-LESSONS:]],
    }


def _lesson(lesson: Lesson, *, with_agent: bool) -> dict[str, JsonValue]:
    data: dict[str, JsonValue] = {
        "kind": lesson.kind,
        "id": lesson.id,
        "name": lesson.name,
        "operation": lesson.operation,
        "status": lesson.status or "known",
    }
    data |= {"agent_id": lesson.agent_id} if with_agent else {}
    if lesson.known is not None:
        data["known"] = shorten(lesson.known, LESSON_CHARS)
    elif lesson.status is not ChangeStatus.HELD:
        data["gone"] = True
    if lesson.before is not None:
        data["before"] = shorten(lesson.before, LESSON_CHARS)
    return data


def _output(output: JsonValue, chars: int) -> dict[str, JsonValue]:
    if output is None:
        return {}
    text = output if isinstance(output, str) else compact(output)
    return {"output": shorten(text, chars) if len(text) > chars else output}


def _shown(at: datetime, zone: tzinfo) -> str:
    return at.astimezone(zone).isoformat(timespec="seconds")


def _day(at: datetime, zone: tzinfo) -> str:
    return at.astimezone(zone).date().isoformat()
