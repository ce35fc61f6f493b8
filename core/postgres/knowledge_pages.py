"""All current memories or rules, page by page: copied out without holding them all."""

from __future__ import annotations

from collections.abc import Sequence

from core.models import Kind, KnowledgeItem
from core.postgres.knowledge import item_of
from core.postgres.queries import Pool, fetch_all


class PostgresKnowledgePages:
    """The `KnowledgePages` port."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def page(
        self,
        kind: Kind,
        *,
        tenant_id: str | None,
        agent_id: str | None,
        after: KnowledgeItem | None,
        limit: int,
    ) -> Sequence[KnowledgeItem]:
        """Give current items by tenant and id (code points), those behind `after`."""
        rows = await fetch_all(
            self._pool,
            "knowledge.page",
            kind=kind,
            tenant_id=tenant_id,
            agent_id=agent_id,
            after_tenant=after.tenant_id if after else "",
            after_id=after.id if after else "",
            limit=limit,
        )
        return [item_of(row) for row in rows]
