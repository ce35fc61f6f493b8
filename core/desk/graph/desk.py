"""The graph at the desk: reads what it is made of, and no more of it than can be shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from core.desk.graph.build import Parts, build
from core.desk.graph.mermaid import mermaid
from core.desk.graph.shown import Graph
from core.desk.owners import own_agent
from core.desk.seat import Seat
from core.errors import DependencyDown
from core.models import Agent, Bundle
from core.models.access import Role
from core.skill_graph import SkillGraph, SkillParts, skill_graph
from core.skill_library import look_into

MAX_SKILLS = 100  # each takes a call to be read
MAX_SKILL_BYTES = 2 * 2**20
_NOT_READ = f"only {MAX_SKILLS} skills are read for a graph"
_TOO_LARGE = "too large to look through for references"


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
            skills=await self._skills(tenant, wanted),
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

    async def _skills(self, tenant_id: str, wanted: Sequence[str]) -> SkillGraph:
        """Read some skills at a time, as many as a graph takes; others may have any file."""
        unread = dict.fromkeys(wanted[MAX_SKILLS:], _NOT_READ)
        large: dict[str, str] = {}

        def look(bundle: Bundle) -> SkillParts:
            if sum(len(file.data) for file in bundle.files.values()) > MAX_SKILL_BYTES:
                large[bundle.name] = _TOO_LARGE
                return SkillParts(tuple(sorted(bundle.files)), ())
            return SkillParts.of(bundle)

        try:
            looked = await look_into(self.seat.app.skills, tenant_id, wanted[:MAX_SKILLS], look)
        except DependencyDown as error:
            return skill_graph({}, dict.fromkeys(wanted, error.message))
        graph = skill_graph(looked.seen, {**looked.unreadable, **unread})
        return replace(graph, unreadable={**graph.unreadable, **large})
