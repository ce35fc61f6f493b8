"""The `Search` port over a `MemoryKnowledge`, without delay."""

from __future__ import annotations

from collections.abc import Sequence

from core.decision_table import parse_xml, search_text
from core.domain.models import Hit, Kind, KnownText, Nearby, Scope
from core.domain.ports import SkillStore
from core.knowledge.search.documents import SearchDocument
from core.testing.knowledge import MemoryKnowledge
from tests.support.memory_search import MemorySearch


class KnowledgeSearch:
    """Index everything for each query; `Nearby.seen` counts the versions of the knowledge."""

    def __init__(self, knowledge: MemoryKnowledge, skills: SkillStore | None = None) -> None:
        self._knowledge = knowledge
        self._skills = skills

    async def search(
        self,
        query: str,
        *,
        tenant_id: str,
        agent_id: str | None,
        kind: Kind | None,
        limit: int,
        user: str | None = None,
    ) -> Sequence[Hit]:
        index = await self._index(tenant_id, user)
        return await index.search(
            query, tenant_id=tenant_id, agent_id=agent_id, kind=kind, limit=limit
        )

    async def near(
        self,
        text: str,
        *,
        tenant_id: str,
        agent_id: str | None,
        kind: Kind,
        limit: int,
        user: str | None = None,
    ) -> Nearby:
        seen = self._knowledge.newest(kind)
        if limit < 1:
            return Nearby(seen=seen)
        index = await self._index(tenant_id, user)
        found = await index.near(
            text, tenant_id=tenant_id, agent_id=agent_id, kind=kind, limit=limit
        )
        items = tuple([await self._as_stands(one, tenant_id) for one in found.items])
        return found.model_copy(update={"seen": seen, "items": items})

    async def _as_stands(self, found: KnownText, tenant_id: str) -> KnownText:
        if found.kind is Kind.SKILL:
            return found
        item = await self._knowledge.get(found.kind, tenant_id, found.id)
        reach = {"agent_id": item.agent_id, "scope": item.scope, "valid_until": item.valid_until}
        return found.model_copy(update=reach)

    async def refresh(self, tenant_id: str) -> None:
        """Do nothing: every query indexes everything."""

    async def _index(self, tenant_id: str, user: str | None) -> MemorySearch:
        index = MemorySearch(self._skills)
        await index.refresh(tenant_id)
        for item in await self._knowledge.list(tenant_id=tenant_id, agent_id=None, kind=None):
            if item.user not in {None, user}:
                continue
            is_rule = item.kind is Kind.DMN_RULE
            document = SearchDocument(
                tenant_id=item.tenant_id,
                kind=item.kind,
                item_id=item.id,
                agent_id=None if item.scope is Scope.TENANT else item.agent_id,
                name=item.name,
                content=search_text(parse_xml(item.content)) if is_rule else item.content,
            )
            index.put(document)
        return index
