"""The `Agents` port in memory."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from core.domain.errors import InvalidInput, NotFound
from core.domain.models import Agent
from core.testing.changes import MemoryChangeLog

_STATED = ("role", "goal", "persona")


class MemoryAgents:
    """Agents by id. With a change log, their lists of skills are those set by its changes.

    With `sets_up_new`, new agents wait to be set up.
    """

    def __init__(
        self,
        agents: Iterable[Agent] = (),
        *,
        log: MemoryChangeLog | None = None,
        sets_up_new: bool = False,
    ) -> None:
        self._sets_up_new = sets_up_new
        self._waiting: set[str] = set()
        self._agents: dict[str, Agent] = {}
        self._own_skills: dict[str, set[str]] = {}
        self._log = log
        for agent in agents:
            self._save(agent)

    async def get(self, agent_id: str) -> Agent:
        if agent_id not in self._agents:
            raise NotFound(f"there is no agent {agent_id!r}")
        skills = self._skills().get(agent_id, set())
        return self._agents[agent_id].model_copy(update={"skills": tuple(sorted(skills))})

    async def list(self, tenant_id: str | None = None) -> Sequence[Agent]:
        agents = [await self.get(agent_id) for agent_id in sorted(self._agents)]
        return [agent for agent in agents if tenant_id in {None, agent.tenant_id}]

    async def save(self, agent: Agent) -> bool:
        return self._save(agent)

    async def awaiting_setup(self, limit: int) -> Sequence[Agent]:
        waiting = [self._agents[agent_id] for agent_id in sorted(self._waiting)]
        return [a.model_copy(update={"skills": ()}) for a in waiting if a.goal.strip()][:limit]

    async def setup_begun(self, agent_id: str) -> None:
        self._waiting.discard(agent_id)

    def claim_setup(self, agent: Agent) -> bool:
        """Clear the wait of an agent, if it waits and is unchanged since."""
        known = self._agents.get(agent.id)
        if known is None or agent.id not in self._waiting:
            return False
        if any(getattr(known, name) != getattr(agent, name) for name in _STATED):
            return False
        self._waiting.discard(agent.id)
        return True

    def _save(self, agent: Agent) -> bool:
        known = self._agents.get(agent.id)
        if known is not None and known.tenant_id != agent.tenant_id:
            raise InvalidInput(f"agent {agent.id!r} belongs to another tenant")
        if known is None:
            self._skills()[agent.id] = set(agent.skills)
        self._agents[agent.id] = agent
        had_goal = known is not None and known.goal.strip()
        if self._sets_up_new and agent.goal.strip() and not had_goal:
            self._waiting.add(agent.id)
        return known is None

    def _skills(self) -> dict[str, set[str]]:
        # The log replaces its dict on every rollback, so it must not be cached.
        return self._own_skills if self._log is None else self._log.agent_skills
