"""The `Agents` port in memory."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from core.errors import InvalidInput, NotFound
from core.models import Agent
from core.testing.changes import MemoryChangeLog


class MemoryAgents:
    """Agents by id. With a change log, their lists of skills are those the log's changes set."""

    def __init__(self, agents: Iterable[Agent] = (), *, log: MemoryChangeLog | None = None) -> None:
        self._agents: dict[str, Agent] = {}
        self._own_skills: dict[str, set[str]] = {}
        self._log = log
        for agent in agents:
            self._save(agent)

    async def get(self, agent_id: str) -> Agent:
        """Give one agent. Raises NotFound."""
        if agent_id not in self._agents:
            raise NotFound(f"there is no agent {agent_id!r}")
        skills = self._skills().get(agent_id, set())
        return self._agents[agent_id].model_copy(update={"skills": tuple(sorted(skills))})

    async def list(self, tenant_id: str | None = None) -> Sequence[Agent]:
        """Give all agents (of a tenant), by id."""
        agents = [await self.get(agent_id) for agent_id in sorted(self._agents)]
        return [agent for agent in agents if tenant_id in {None, agent.tenant_id}]

    async def save(self, agent: Agent) -> bool:
        """Create or change an agent; True where it is new. Raises InvalidInput."""
        return self._save(agent)

    def _save(self, agent: Agent) -> bool:
        known = self._agents.get(agent.id)
        if known is not None and known.tenant_id != agent.tenant_id:
            raise InvalidInput(f"agent {agent.id!r} belongs to another tenant")
        if known is None:
            self._skills()[agent.id] = set(agent.skills)
        self._agents[agent.id] = agent
        return known is None

    def _skills(self) -> dict[str, set[str]]:
        # The log's dict is another one after each of its roll-backs: ask for it every time.
        return self._own_skills if self._log is None else self._log.agent_skills
