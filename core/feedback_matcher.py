"""Divide one piece of feedback among the agents it may concern."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, tzinfo

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from pydantic import Field, JsonValue

from core.agent.budgets import Meter
from core.agent.loop.prompt import (
    abridged,
    agent_data,
    conversation_data,
    earlier_pieces,
    feedback_data,
)
from core.agent.model.chat_model import ask_structured, parse_structured, prompt
from core.domain.errors import RunFailed
from core.domain.hashing import matching_prefix
from core.domain.messages import Message
from core.domain.models import (
    Agent,
    AgentFeedback,
    EarlierPiece,
    Feedback,
    LearningCandidate,
    MatchResult,
)
from core.domain.models.base import Model
from core.domain.ports import CircuitBreaker, Conversations, NoConversations, Replies
from core.domain.text import compact, fenced_json


@dataclass(frozen=True)
class MatchDeps:
    """The model with its breaker and meter, the store of replies and the number of rounds.

    `conversations` has what was said before; times are shown in `zone`. With `keeps_raw` secrets in
    the answers are kept.
    """

    model: BaseChatModel
    breaker: CircuitBreaker
    replies: Replies
    max_rounds: int = 3
    meter: Meter = field(default_factory=Meter)
    conversations: Conversations = field(default_factory=NoConversations)
    zone: tzinfo = UTC
    keeps_raw: bool = False


class MatchedAgent(Model):
    """One agent's part of the feedback."""

    agent_id: str = Field(description="exactly as given")
    content: str = Field(min_length=1, description="this agent's part, complete on its own")
    intent_hint: str = Field(default="", description="one short phrase: what the user wants")


class MatchAnswer(Model):
    """Which agents the feedback concerns, and what each could learn from it."""

    agents: tuple[MatchedAgent, ...] = ()
    nothing_reason: str = Field(
        default="", description="why no agent is concerned; only where `agents` is empty"
    )


async def match_feedback_to_agents(
    feedback: Feedback,
    agents: Sequence[Agent],
    task_description: str,
    events: Sequence[JsonValue],
    *,
    deps: MatchDeps,
) -> MatchResult:
    """Return one candidate per agent concerned; for a single agent no model is asked.

    Raises RunFailed if no answer of the model is usable, ModelDown and the permanent kinds: a
    failure never means "nothing to learn".
    """
    if len(agents) == 1:
        return _result([(agents[0], LearningCandidate(content=feedback.content))])
    key = f"{matching_prefix(feedback.id)}{feedback.generation}"
    pieces = await earlier_pieces(feedback, deps.conversations)
    messages = _question(feedback, agents, task_description, events, pieces, deps.zone)
    problem = ""
    for ordinal in range(deps.max_rounds):
        raw = await _reply(feedback.tenant_id, key, ordinal, messages, deps)
        answer, problem = parse_structured(raw, MatchAnswer)
        problem = problem or _problem(answer, agents)
        if answer is not None and not problem:
            return _matched(answer, agents)
        # As text: providers refuse a tool call in the history that no tool message answers.
        messages += [AIMessage(compact(raw)), HumanMessage(f"{problem}. Answer again.")]
    raise RunFailed(Message("feedback.no_match", why=problem), hint=Message("feedback.ask_anew"))


async def _reply(
    tenant_id: str, key: str, ordinal: int, messages: list[BaseMessage], deps: MatchDeps
) -> JsonValue:
    """Return the stored reply, or ask and store it before anything acts on it."""
    stored = await deps.replies.get(key, ordinal)
    if stored is not None:
        return stored[0]
    async with deps.meter.budgets.call(tenant_id, key):
        async with deps.breaker.call():
            reply = await ask_structured(
                deps.model,
                messages,
                MatchAnswer,
                price=deps.meter.price,
                keeps_raw=deps.keeps_raw,
            )
        await deps.replies.put(key, ordinal, reply.raw, reply.usage, tenant_id=tenant_id)
    return reply.raw


def _question(
    feedback: Feedback,
    agents: Sequence[Agent],
    task: str,
    events: Sequence[JsonValue],
    pieces: Sequence[EarlierPiece],
    zone: tzinfo,
) -> list[BaseMessage]:
    data: JsonValue = {
        "feedback": feedback_data(feedback, feedback.content, zone, pieces),
        **({"conversation": conversation_data(pieces, zone)} if pieces else {}),
        "task": task,
        "agents": [agent_data(agent) for agent in agents],
        "events": abridged(events),
    }
    return [SystemMessage(prompt("matcher")), HumanMessage(fenced_json(data))]


def _problem(answer: MatchAnswer | None, agents: Sequence[Agent]) -> str:
    """Return what is wrong with a parsed answer, or an empty text."""
    if answer is None:
        return Message("match.unreadable")
    known = {agent.id for agent in agents}
    unknown = [part.agent_id for part in answer.agents if part.agent_id not in known]
    if unknown:
        return Message("match.no_agent", unknown=", ".join(unknown), known=", ".join(sorted(known)))
    if not answer.agents and not answer.nothing_reason.strip():
        return Message("match.no_reason")
    return ""


def _matched(answer: MatchAnswer, agents: Sequence[Agent]) -> MatchResult:
    """Return one candidate per agent, in their order; the parts of one agent are joined."""
    parts: list[tuple[Agent, LearningCandidate]] = []
    for agent in agents:
        own = [part for part in answer.agents if part.agent_id == agent.id]
        if own:
            candidate = LearningCandidate(
                content="\n".join(part.content for part in own), intent_hint=own[0].intent_hint
            )
            parts.append((agent, candidate))
    return _result(parts, answer.nothing_reason)


def _result(parts: Sequence[tuple[Agent, LearningCandidate]], reason: str = "") -> MatchResult:
    return MatchResult(
        reason=reason,
        agent_feedbacks=tuple(
            AgentFeedback(agent_id=agent.id, agent_name=agent.name, learning_candidate=candidate)
            for agent, candidate in parts
        ),
    )
