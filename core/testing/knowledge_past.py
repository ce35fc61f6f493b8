"""The `KnowledgePast` port over a `MemoryKnowledge`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from core.domain.errors import NotFound
from core.domain.models import FileRef, Kind, KnowledgeItem
from core.testing.knowledge import MemoryKnowledge


class MemoryKnowledgePast:
    """The last versions of what a `MemoryKnowledge` holds or held."""

    def __init__(self, knowledge: MemoryKnowledge) -> None:
        self._knowledge = knowledge

    async def last(
        self, item_id: str, *, tenant_id: str | None, kind: Kind | None
    ) -> Sequence[KnowledgeItem]:
        found: dict[tuple[str, str], KnowledgeItem] = {}
        for item in self._knowledge.everything():
            if item.id == item_id and tenant_id in {None, item.tenant_id}:
                found[item.tenant_id, item.kind] = item
        return [found[place] for place in sorted(found) if kind in {None, found[place].kind}]

    async def version(
        self, kind: Kind, tenant_id: str, item_id: str, version: int
    ) -> tuple[KnowledgeItem, Mapping[str, FileRef]]:
        for item in self._knowledge.everything():
            place = (item.kind, item.tenant_id, item.id, item.version)
            if place == (kind, tenant_id, item_id, version):
                return item, self._knowledge.files_of(item)
        raise NotFound(f"{kind} {item_id!r} has no version {version}")
