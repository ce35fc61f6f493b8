"""The first message of a ReAct run: all of its input as one fenced JSON document.

::

    {"feedback": {"text", "task", "author",         the user's words, verbatim;
                  "said_at"?, "today"?, "output"?}  with "setup": true it is an agent's goal
     "conversation": [{"text", "author", "taught": [item], "said_at"?, "answered"?, "output"?}],
                                                    what was said before, newest first
     "candidate": {"content", "intent_hint"},
     "agent": {"id", "name", "role", "goal", "persona", "skills": [name]},
     "events": [json, …],                           abridged
     "related": [{"id", "kind", "name", "excerpt", "score", "agent_id"?, "why"?, "on_agent"?}],
     "receipts": [{"status", "message", …}]}        of earlier attempts
"""

from __future__ import annotations

from collections.abc import Sequence

import structlog
from langchain_core.messages import HumanMessage
from pydantic import JsonValue

from core.agent.loop.conversation import (
    conversation_data,
    earlier_pieces,
    feedback_data,
    taught_hits,
)
from core.agent.loop.deps import RunDeps
from core.domain.errors import InvalidInput, SkillApiDown
from core.domain.models import Agent, EarlierPiece, Hit, Kind, Receipt
from core.domain.text import compact, fenced_json, shorten

log = structlog.get_logger(__name__)

EVENTS = 20
EVENT_CHARS = 500
QUERY_CHARS = 20_000


async def first_message(feedback_content: str, *, deps: RunDeps) -> HumanMessage:
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
        "feedback": feedback_data(deps.feedback, feedback_content, shared.zone),
        **_conversation(pieces, deps),
        "candidate": {"content": candidate.content, "intent_hint": candidate.intent_hint},
        "agent": agent_data(deps.agent),
        "events": abridged(deps.feedback.events),
        "related": [_related(hit, deps.agent) for hit in _with_taught(pieces, hits, deps.agent)],
        "receipts": [receipt.model_dump(mode="json", exclude_none=True) for receipt in receipts],
    }
    text = f"Decide what this agent should learn, by tool calls.\n\n{fenced_json(data)}"
    return HumanMessage(text, id="first")


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
