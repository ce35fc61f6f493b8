"""The graph at the desk: reads what it is made of, and no more of it than can be shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.desk.graph.build import Parts, build
from core.desk.graph.mermaid import mermaid
from core.desk.graph.reading import read_skills
from core.desk.graph.shown import Graph
from core.desk.owners import own_agent
from core.desk.seat import Seat
from core.errors import DependencyDown
from core.models import Agent
from core.models.access import Role


@dataclass(frozen=True)
class GraphDesk:
    """Raises Forbidden without the role; an agent of another tenant is NotFound."""

    seat: Seat

    async def graph(
        self, *, tenant_id: str | None = None, agent_id: str | None = None, nodes: int = 300
    ) -> Graph:
        """Give the graph of a tenant, or of one agent: at most that many nodes.

        Raises NotFound; InvalidInput where no tenant is told.
        """
        self.seat.needs(Role.READ)
        app, tenant = self.seat.app, self.seat.tenant(tenant_id)
        if agent_id is not None:
            agents: Sequence[Agent] = [await own_agent(self.seat, agent_id, tenant)]
            tenant = agents[0].tenant_id
        else:
            tenant = self.seat.one_tenant(tenant)
            agents = await app.agents.list(tenant)
        names, warnings = await self._names(tenant, agents)
        wanted = [*names] if agent_id is None else [n for n in agents[0].skills if n in names]
        counts = await app.lineage.counts(tenant)
        parts = Parts(
            agents=agents,
            counts=[one for one in counts if agent_id in {None, one.agent_id}],
            names=names,
            wanted=wanted,
            skills=await read_skills(app.skills, tenant, wanted),
            taught=await app.lineage.taught(tenant, agent_id=agent_id, limit=nodes),
        )
        graph = build(tenant, agent_id, parts, nodes)
        drawn = {"mermaid": mermaid(graph), "warnings": warnings}
        return graph.model_copy(update=drawn)

    async def _names(
        self, tenant_id: str, agents: Sequence[Agent]
    ) -> tuple[Sequence[str], tuple[str, ...]]:
        """Give the names of all skills; where the skill API is down, those on lists of agents."""
        try:
            listed = await self.seat.app.skills.list(tenant_id)
        except DependencyDown as error:
            names = sorted({name for agent in agents for name in agent.skills})
            return names, (f"skills were not looked through: {error.message}",)
        return [summary.name for summary in listed], ()
