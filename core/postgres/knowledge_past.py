"""What has an id, or had it: where to look before asking how it stood."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from core.errors import NotFound
from core.models import FileRef, Kind, KnowledgeItem
from core.postgres.knowledge import item_of
from core.postgres.queries import Pool, fetch_all, fetch_one


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

    async def version(
        self, kind: Kind, tenant_id: str, item_id: str, version: int
    ) -> tuple[KnowledgeItem, Mapping[str, FileRef]]:
        """Give one version of an item, and the files of a skill. Raises NotFound."""
        block = "past.skill_version" if kind is Kind.SKILL else "past.version"
        row = await fetch_one(
            self._pool, block, kind=kind, tenant_id=tenant_id, item_id=item_id, version=version
        )
        if row is None:
            raise NotFound(f"{kind} {item_id!r} has no version {version}")
        files = row.pop("files", None) or {}
        return item_of(row), {path: FileRef.model_validate(ref) for path, ref in files.items()}
