"""What has an id, or had it: where to look before asking how it stood."""

from __future__ import annotations

from collections.abc import Sequence

from core.models import Kind, KnowledgeItem
from core.postgres.knowledge import item_of
from core.postgres.queries import Pool, fetch_all


class PostgresKnowledgePast:
    """The `KnowledgePast` port."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def last(
        self, item_id: str, *, tenant_id: str | None, kind: Kind | None
    ) -> Sequence[KnowledgeItem]:
        """Give the newest version of everything that has this id, or had it; without content."""
        rows = await fetch_all(
            self._pool, "past.last", item_id=item_id, tenant_id=tenant_id, kind=kind
        )
        return [item_of({**row, "content": "", "version": row["version"] or 1}) for row in rows]
