"""The agent id under which the worker keeps its own lessons; nothing from outside may use it."""

from __future__ import annotations

import unicodedata

from core.domain.errors import InvalidInput
from core.domain.messages import Message

WORKER_AGENT = "skill-worker"


def is_reserved(agent_id: str) -> bool:
    """Whether an agent id is the worker's own, in whatever letters and forms."""
    return unicodedata.normalize("NFKC", agent_id).strip().casefold() == WORKER_AGENT


def refuse_reserved(agent_id: str) -> None:
    """Raise InvalidInput for the worker's own id, wherever an agent is named from outside."""
    if is_reserved(agent_id):
        raise InvalidInput(
            Message("agent.reserved", id=agent_id), hint=Message("agent.hint_reserved")
        )
