"""The `KnowledgePages` port over a `MemoryKnowledge`."""

from __future__ import annotations

from collections.abc import Sequence

from core.models import Kind, KnowledgeItem
from core.testing.knowledge import MemoryKnowledge


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
        """Give current items by tenant and id, those behind `after`."""
        items = await self._knowledge.list(tenant_id=tenant_id, agent_id=agent_id, kind=kind)
        behind = sorted(
            (i for i in items if after is None or _place(i) > _place(after)), key=_place
        )
        return behind[:limit]


def _place(item: KnowledgeItem) -> tuple[str, str]:
    return item.tenant_id, item.id
