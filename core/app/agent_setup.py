"""An agent's first knowledge: its goal and persona, submitted as feedback to learn from."""

from __future__ import annotations

from dataclasses import dataclass

from core.domain.errors import InvalidInput
from core.domain.hashing import text_hash
from core.domain.messages import Message
from core.domain.models import SETUP, Agent, NewFeedback
from core.domain.ports import Agents, Inbox

_BATCH = 100
_DIGEST_CHARS = 16


@dataclass(frozen=True)
class _Words:
    ask: str
    task: str
    role: str
    goal: str
    persona: str


_ENGLISH = _Words(
    ask="Decide what this agent should know from the start.",
    task="setting up the agent",
    role="Role",
    goal="Goal",
    persona="Persona",
)
_KOREAN = _Words(
    ask="이 에이전트가 처음부터 알아야 할 것을 정해 주세요.",
    task="에이전트 초기 설정",
    role="역할",
    goal="목표",
    persona="페르소나",
)


def setup_feedback(agent: Agent, *, again: str = "") -> NewFeedback:
    """Build the feedback that requests an agent's first knowledge, in the language of its goal.

    Its id contains a digest of tenant and content, so that it is stored once; `again` builds
    another. Raises InvalidInput if there is neither goal nor persona.
    """
    if not (agent.goal.strip() or agent.persona.strip()):
        raise InvalidInput(
            Message("agents.nothing_to_derive", id=agent.id),
            hint=Message("agents.hint_goal"),
        )
    words = _KOREAN if _is_korean(agent.goal + agent.persona) else _ENGLISH
    content = _content(agent, words)
    # The tenant counts: two may have an agent of one id that is for the same.
    digest = text_hash(f"{agent.tenant_id}\0{content}")[:_DIGEST_CHARS]
    return NewFeedback(
        id=":".join(filter(None, (agent.id, digest, again))),
        tenant_id=agent.tenant_id,
        agent_ids=(agent.id,),
        task=words.task,
        content=content,
    )


async def set_up_new_agents(agents: Agents, inbox: Inbox) -> int:
    """Store the first feedback of each new agent that awaits it; returns how many were stored.

    An agent waits until its feedback is stored: a crash in between, or a second worker, does no
    harm. An agent whose goal was changed meanwhile is considered again.
    """
    begun = 0
    while waiting := await agents.awaiting_setup(_BATCH):
        for agent in waiting:
            begun += await inbox.add_first(SETUP, setup_feedback(agent), agent)
    return begun


def _content(agent: Agent, words: _Words) -> str:
    parts = ((words.role, agent.role), (words.goal, agent.goal), (words.persona, agent.persona))
    stated = [f"[{label}]\n{text}" for label, text in parts if text.strip()]
    return "\n\n".join([words.ask, *stated])


def _is_korean(text: str) -> bool:
    return any("가" <= char <= "힣" for char in text)
