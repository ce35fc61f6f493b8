"""Reads what the graph is built from, and no more of it than can be shown."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

from core.domain.errors import DependencyDown
from core.domain.messages import Message
from core.domain.models import Agent, Bundle
from core.domain.models.access import Role
from core.domain.ports import SkillStore
from core.entrypoints.service.graph.build import Parts, build
from core.entrypoints.service.graph.mermaid import mermaid
from core.entrypoints.service.graph.shown import Graph
from core.entrypoints.service.owners import own_agent
from core.entrypoints.service.session import Session
from core.skills.graph import SkillGraph, SkillParts, skill_graph
from core.skills.library import look_into

MAX_SKILLS = 100
MAX_SKILL_BYTES = 2 * 2**20
SECONDS = 10.0
_NOT_READ = Message("graph.too_many_skills", "only {n} skills are read for a graph", n=MAX_SKILLS)
_TOO_SLOW = Message("graph.too_slow", "the skill server was too slow")
_TOO_LARGE = Message("graph.too_large", "too large to look through for references")


async def read_skills(
    skills: SkillStore, tenant_id: str, wanted: Sequence[str], seconds: float = SECONDS
) -> SkillGraph:
    """Read some skills at a time; one that was not read is unreadable, and may have any file.

    If the server does not answer, or not within `seconds`, the result is what was read until then.
    """
    seen: dict[str, SkillParts] = {}
    large: dict[str, str] = {}

    def look(bundle: Bundle) -> None:
        if sum(len(file.data) for file in bundle.files.values()) > MAX_SKILL_BYTES:
            large[bundle.name] = _TOO_LARGE
            seen[bundle.name] = SkillParts(tuple(sorted(bundle.files)), ())
        else:
            seen[bundle.name] = SkillParts.of(bundle)

    unread: dict[str, str] = dict.fromkeys(wanted[MAX_SKILLS:], _NOT_READ)
    asked, why = wanted[:MAX_SKILLS], ""
    try:
        async with asyncio.timeout(seconds):
            unread |= (await look_into(skills, tenant_id, asked, look)).unreadable
    except TimeoutError:
        why = _TOO_SLOW
    except DependencyDown as error:
        why = error.message
    if why:
        unread |= {name: why for name in asked if name not in seen}
    graph = skill_graph(seen, unread)
    return replace(graph, unreadable={**graph.unreadable, **large})


@dataclass(frozen=True)
class GraphService:
    """Raises Forbidden without the role; an agent of another tenant is NotFound."""

    session: Session

    async def graph(
        self, *, tenant_id: str | None = None, agent_id: str | None = None, nodes: int = 300
    ) -> Graph:
        """Return the graph of a tenant, or of one agent, with at most `nodes` nodes.

        Raises NotFound; InvalidInput if no tenant is named.
        """
        self.session.require(Role.READ)
        app, tenant = self.session.app, self.session.tenant(tenant_id)
        if agent_id is not None:
            agents: Sequence[Agent] = [await own_agent(self.session, agent_id, tenant)]
            tenant = agents[0].tenant_id
        else:
            tenant = self.session.one_tenant(tenant)
            agents = await app.stores.agents.list(tenant)
        names, warnings = await self._names(tenant, agents)
        wanted = [*names] if agent_id is None else [n for n in agents[0].skills if n in names]
        counts = await app.stores.lineage.counts(tenant)
        parts = Parts(
            agents=agents,
            counts=[one for one in counts if agent_id in {None, one.agent_id}],
            names=names,
            wanted=wanted,
            skills=await read_skills(app.stores.skills, tenant, wanted),
            taught=await app.stores.lineage.taught(tenant, agent_id=agent_id, limit=nodes),
        )
        graph = build(tenant, agent_id, parts, nodes)
        drawn = {"mermaid": mermaid(graph), "warnings": warnings}
        return graph.model_copy(update=drawn)

    async def _names(
        self, tenant_id: str, agents: Sequence[Agent]
    ) -> tuple[Sequence[str], tuple[str, ...]]:
        """Return the names of all skills; if the skill API is down, those on agents' lists."""
        try:
            listed = await self.session.stores.skills.list(tenant_id)
        except DependencyDown as error:
            names = sorted({name for agent in agents for name in agent.skills})
            return names, (
                Message(
                    "graph.skills_unread",
                    "skills were not looked through: {why}",
                    why=error.message,
                ),
            )
        return [summary.name for summary in listed], ()
