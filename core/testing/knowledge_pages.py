"""The `KnowledgePages` port over a `MemoryKnowledge`."""

from __future__ import annotations

from collections.abc import Sequence

from core.domain.models import Kind, KnowledgeItem
from core.domain.models.views import Listed
from core.testing.knowledge import MemoryKnowledge

EXCERPT = 240


class MemoryKnowledgePages:
    """Pages of what a `MemoryKnowledge` holds."""

    def __init__(self, knowledge: MemoryKnowledge) -> None:
        self._knowledge = knowledge

    async def page(
        self,
        kind: Kind,
        *,
        tenant_id: str | None,
        agent_id: str | None,
        after: KnowledgeItem | None,
        limit: int,
    ) -> Sequence[KnowledgeItem]:
        items = await self._knowledge.list(tenant_id=tenant_id, agent_id=agent_id, kind=kind)
        behind = sorted(
            (i for i in items if after is None or _place(i) > _place(after)), key=_place
        )
        return behind[:limit]

    async def browse(
        self,
        *,
        tenant_id: str | None,
        agent_id: str | None,
        kind: Kind | None,
        after: tuple[str, str, str] | None,
        limit: int,
    ) -> Sequence[Listed]:
        """Return current items by tenant, kind and id; there are no skills in memory."""
        items = await self._knowledge.list(tenant_id=tenant_id, agent_id=agent_id, kind=kind)
        listed = [_listed(item) for item in items]
        behind = (item for item in listed if after is None or _shelf(item) > after)
        return sorted(behind, key=_shelf)[:limit]


def _place(item: KnowledgeItem) -> tuple[str, str]:
    return item.tenant_id, item.id


def _listed(item: KnowledgeItem) -> Listed:
    kept = item.model_dump(include=set(Listed.model_fields))
    return Listed(excerpt=item.content[:EXCERPT], **kept)


def _shelf(item: Listed) -> tuple[str, str, str]:
    return item.tenant_id, item.kind, item.id
