"""The first message of a ReAct run: all of its input as one fenced JSON document.

::

    {"feedback": {"text", "task", "author",         the user's words, verbatim;
                  "said_at"?, "today"?, "output"?}  with "setup": true it is an agent's goal, with
                                                    "answered_missing" what it answers is not here
     "conversation": [{"text", "author", "taught": [item], "said_at"?, "answered"?, "output"?}],
                                                    what was said before, newest first
     "candidate": {"content", "intent_hint"},
     "agent": {"id", "name", "role", "goal", "persona", "skills": [name]},
     "events": [json, …],                           abridged
     "denied": {tool: reason},                       what the policy does not let them teach
     "related": [{"id", "kind", "name", "excerpt", "score", "agent_id"?, "why"?, "on_agent"?}],
     "receipts": [{"status", "message", …}]}        of earlier attempts
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, tzinfo

import structlog
from langchain_core.messages import HumanMessage
from pydantic import JsonValue

from core.agent.loop.deps import RunDeps
from core.domain.errors import InvalidInput, SkillApiDown
from core.domain.messages import Message
from core.domain.models import (
    SETUP,
    Agent,
    ChangeStatus,
    EarlierPiece,
    Feedback,
    Hit,
    Kind,
    Lesson,
    Receipt,
)
from core.domain.ports import Conversations
from core.domain.text import compact, fenced_json, shorten

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


def feedback_data(
    feedback: Feedback, content: str, zone: tzinfo = UTC, pieces: Sequence[EarlierPiece] = ()
) -> dict[str, JsonValue]:
    """Return feedback as shown to a model: times in `zone`, the output it is about cut.

    `pieces` were said before it; that the one it answers is not among them is told.
    """
    data: dict[str, JsonValue] = {
        "text": content,
        "task": feedback.task,
        "author": feedback.author,
    }
    data |= {"setup": True} if feedback.source == SETUP else {}
    is_here = feedback.in_reply_to is None or any(piece.is_answered for piece in pieces)
    data |= {} if is_here else {"answered_missing": True}
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


log = structlog.get_logger(__name__)

EVENTS = 20
EVENT_CHARS = 500
QUERY_CHARS = 20_000
_STANDS = (
    "This run goes on from here anew. What an earlier run of the same feedback came to stands; do"
    " not do it a second time, and undo of it what you now decide otherwise."
)


async def first_message(
    feedback_content: str, *, deps: RunDeps, denied: Mapping[str, str] | None = None
) -> HumanMessage:
    """Assemble the input of the run. Raises DependencyDown."""
    shared, candidate = deps.shared, deps.candidate
    tenant_id = deps.feedback.tenant_id
    await _refresh(deps)
    hits = await shared.search.search(
        shorten(candidate.content, QUERY_CHARS),
        tenant_id=tenant_id,
        agent_id=deps.agent.id,
        kind=None,
        limit=shared.search_limit,
        user=deps.feedback.author,
    )
    pieces = await earlier_pieces(deps.feedback, shared.conversations)
    receipts: Sequence[Receipt] = ()
    if candidate.generation > 1:
        receipts = await shared.runs.receipts(candidate.id)
    data: dict[str, JsonValue] = {
        "feedback": feedback_data(deps.feedback, feedback_content, shared.zone, pieces),
        **_conversation(pieces, deps),
        "candidate": {"content": candidate.content, "intent_hint": candidate.intent_hint},
        "agent": agent_data(deps.agent),
        **({"denied": {**denied}} if denied else {}),
        "events": abridged(deps.feedback.events),
        "related": [_related(hit, deps.agent) for hit in _with_taught(pieces, hits, deps.agent)],
        "receipts": [receipt.model_dump(mode="json", exclude_none=True) for receipt in receipts],
    }
    text = f"Decide what this agent should learn, by tool calls.\n\n{fenced_json(data)}"
    if lessons := await _lessons(deps):
        text = f"{text}\n\n{lessons}"
    return HumanMessage(text, id="first")


async def _lessons(deps: RunDeps) -> str:
    shown, candidate = deps.shared.lessons, deps.candidate
    if shown is None:
        return ""
    return await shown(candidate.content, deps.agent, deps.feedback.id, candidate.id)


def told_receipts(receipts: Sequence[Receipt]) -> str:
    """Return what a run is told that goes on from a step of an earlier one, "" if that is nothing.

    What the earlier one came to stands, whatever of it this one has seen.
    """
    if not receipts:
        return ""
    data: list[JsonValue] = [one.model_dump(mode="json", exclude_none=True) for one in receipts]
    return f"{_STANDS}\n\n{fenced_json({'receipts': data})}"


async def _refresh(deps: RunDeps) -> None:
    """Index skills written elsewhere; without the skill API the run goes on, unaware of them."""
    try:
        await deps.shared.search.refresh(deps.feedback.tenant_id)
    except (SkillApiDown, InvalidInput) as error:
        log.warning("search.stale", error=error.message)


def _conversation(pieces: Sequence[EarlierPiece], deps: RunDeps) -> dict[str, JsonValue]:
    if not pieces:
        return {}
    zone, agent_id = deps.shared.zone, deps.agent.id
    return {"conversation": conversation_data(pieces, zone, agent_id=agent_id)}


def _with_taught(
    pieces: Sequence[EarlierPiece], hits: Sequence[Hit], agent: Agent
) -> Sequence[Hit]:
    """Return what the conversation taught the agent, then the other hits."""
    taught = taught_hits(pieces, agent.id)
    known = {(hit.kind, hit.id) for hit in taught}
    return [*taught, *(hit for hit in hits if (hit.kind, hit.id) not in known)]


def agent_data(agent: Agent) -> JsonValue:
    """Return an agent as shown to a model."""
    data: JsonValue = agent.model_dump(mode="json", exclude={"tenant_id"})
    return data


def abridged(events: Sequence[JsonValue]) -> list[JsonValue]:
    """Return the last events of a log, the short ones as they are, others as truncated text."""
    texts = ((event, compact(event)) for event in events[-EVENTS:])
    return [
        event if len(text) <= EVENT_CHARS else shorten(text, EVENT_CHARS) for event, text in texts
    ]


def _related(hit: Hit, agent: Agent) -> JsonValue:
    if hit.kind is not Kind.SKILL:
        return hit_data(hit)
    return hit_data(hit) | {"on_agent": hit.name in agent.skills}


def hit_data(hit: Hit) -> dict[str, JsonValue]:
    """Return a hit as shown to the model."""
    data: dict[str, JsonValue] = hit.model_dump(mode="json", exclude_defaults=True)
    return data | {"score": round(hit.score, 3)}
