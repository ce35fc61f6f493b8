"""Export knowledge as lines that an import accepts: memories, rules, others, then whole skills."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from core.domain.input_formats.skill_files import files_to_json
from core.domain.models import Agent, Bundle, Kind, KnowledgeItem
from core.domain.models.feedback import WORKER_AGENT
from core.domain.models.knowledge import ITEM_KINDS
from core.domain.ports import Agents, KnowledgePages, SkillStore

PAGE = 500
Line = dict[str, JsonValue]


@dataclass(frozen=True, kw_only=True)
class Exporter:
    """Export lines in a stable order: by kind, then tenant, then id or name.

    `kinds` are all there are; skills come last.
    """

    pages: KnowledgePages
    agents: Agents
    skills: SkillStore
    kinds: Sequence[Kind] = ITEM_KINDS

    async def lines(
        self, *, kind: Kind | None, tenant_id: str | None, agent_id: str | None
    ) -> AsyncIterator[Line]:
        """Yield current items, of one tenant or its agent if given. Raises DependencyDown."""
        assert agent_id is None or tenant_id is not None
        for wanted in (one for one in self.kinds if one is not Kind.SKILL):
            if kind in {None, wanted}:
                async for line in self._items(wanted, tenant_id, agent_id):
                    yield line
        if kind in {None, Kind.SKILL}:
            async for line in self._skills(tenant_id, agent_id):
                yield line

    async def _items(
        self, kind: Kind, tenant_id: str | None, agent_id: str | None
    ) -> AsyncIterator[Line]:
        last: KnowledgeItem | None = None
        while page := await self.pages.page(
            kind, tenant_id=tenant_id, agent_id=agent_id, after=last, limit=PAGE
        ):
            for item in page:
                if item.agent_id != WORKER_AGENT:  # no import would take it
                    yield _item(item)
            last = page[-1]

    async def _skills(self, tenant_id: str | None, agent_id: str | None) -> AsyncIterator[Line]:
        agents = await self.agents.list(tenant_id)
        tenants = [tenant_id] if tenant_id else sorted({agent.tenant_id for agent in agents})
        for tenant in tenants:
            for name in sorted(skill.name for skill in await self.skills.list(tenant)):
                having = [a for a in agents if a.tenant_id == tenant and name in a.skills]
                if agent_id is not None:
                    having = [agent for agent in having if agent.id == agent_id]
                    if not having:
                        continue
                bundle = await self.skills.read(name, tenant)
                if bundle is not None:
                    yield _skill(bundle, tenant, having)


def _item(item: KnowledgeItem) -> Line:
    name: Line = {"name": item.name} if item.kind is Kind.DMN_RULE else {}
    owner: Line = {"kind": item.kind, "id": item.id, "tenant_id": item.tenant_id}
    reach: Line = item.reach.model_dump(mode="json", exclude_defaults=True)
    return owner | {"agent_id": item.agent_id} | name | {"content": item.content} | reach


def _skill(bundle: Bundle, tenant_id: str, having: Sequence[Agent]) -> Line:
    ids = sorted(agent.id for agent in having)
    line: Line = {"kind": Kind.SKILL, "name": bundle.name, "tenant_id": tenant_id}
    if ids:
        line["agent_id"] = ids[0]
    if ids[1:]:
        line["other_agent_ids"] = [*ids[1:]]
    files = files_to_json(bundle.files)
    return line | {"content": bundle.document} | ({"files": files} if files else {})
