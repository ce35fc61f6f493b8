"""What is known now, page by page: copied out or looked at without holding it all."""

from __future__ import annotations

from collections.abc import Sequence

from core.models import Kind, KnowledgeItem
from core.models.known import Listed
from core.postgres.knowledge import item_of
from core.postgres.queries import Pool, fetch_all

_LISTED = set(Listed.model_fields) - {"id"}


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

    async def browse(
        self,
        *,
        tenant_id: str | None,
        agent_id: str | None,
        kind: Kind | None,
        after: tuple[str, str, str] | None,
        limit: int,
    ) -> Sequence[Listed]:
        """Give current items of all kinds by tenant, kind and id (code points)."""
        tenant, after_kind, after_id = after or (None, None, None)
        rows = await fetch_all(
            self._pool,
            "knowledge.browse",
            tenant_id=tenant_id,
            agent_id=agent_id,
            kind=kind,
            tenant=tenant,
            after_kind=after_kind,
            after_id=after_id,
            limit=limit,
        )
        return [Listed(id=row["item_id"], **{key: row[key] for key in _LISTED}) for row in rows]
