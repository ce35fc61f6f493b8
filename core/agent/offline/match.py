"""The offline model as matcher: divide feedback by the names and roles it mentions."""

from __future__ import annotations

from pydantic import JsonValue

from core.agent.offline.reasons import STAND_IN
from core.agent.offline.text import clauses, letters, likeness


def answer(data: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """Return the arguments of `MatchAnswer`.

    A clause goes to the agents whose name, role or id it mentions; one without a mention to those
    of the clause before (a first one to those of the next). Without any mention all goes to the
    agent with the most similar role and goal.
    """
    feedback = data.get("feedback")
    text = str(feedback.get("text", "")) if isinstance(feedback, dict) else ""
    listed = data.get("agents")
    agents = (
        [agent for agent in listed if isinstance(agent, dict)] if isinstance(listed, list) else []
    )
    parts = _divided(clauses(text), agents)
    if not parts:
        nearest = max(agents, key=lambda agent: likeness(text, _about(agent)))
        parts = {str(nearest["id"]): [text.strip()]}
    return {
        "agents": [
            {"agent_id": agent_id, "content": "\n".join(own), "intent_hint": STAND_IN}
            for agent_id, own in parts.items()
        ]
    }


def _divided(pieces: list[str], agents: list[dict[str, JsonValue]]) -> dict[str, list[str]]:
    parts: dict[str, list[str]] = {}
    waiting: list[str] = []
    current: list[str] = []
    for piece in pieces:
        named = [str(agent["id"]) for agent in agents if _mentions(piece, agent)]
        current = named or current
        if not current:
            waiting.append(piece)
        for agent_id in current:
            parts.setdefault(agent_id, [*waiting]).append(piece)
        if current:
            waiting = []
    return parts


def _mentions(piece: str, agent: dict[str, JsonValue]) -> bool:
    plain = letters(piece)
    names = (letters(str(agent.get(key) or "")) for key in ("name", "role", "id"))
    return any(len(name) >= 2 and name in plain for name in names)


def _about(agent: dict[str, JsonValue]) -> str:
    return " ".join(str(agent.get(key) or "") for key in ("name", "role", "goal"))
