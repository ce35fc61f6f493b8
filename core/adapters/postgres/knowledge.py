"""Memories and decision tables, present and past (reads)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from psycopg.rows import DictRow

from core.adapters.postgres.queries import Pool, fetch_all, fetch_one
from core.domain.errors import NotFound
from core.domain.hashing import name_key, same_key, same_keys
from core.domain.messages import Message
from core.domain.models import FileRef, Kind, KnowledgeItem, Operation
from core.domain.models.views import Listed
from core.domain.ports import SkillStore
from core.knowledge.history import absent

_FIELDS = set(KnowledgeItem.model_fields) - {"id", "user"}


class PostgresKnowledge:
    """The `Knowledge` port over our own tables, and over the skill store for whole skills."""

    def __init__(self, pool: Pool, skills: SkillStore) -> None:
        self._pool = pool
        self._skills = skills

    async def get(self, kind: Kind, tenant_id: str, item_id: str) -> KnowledgeItem:
        if kind is Kind.SKILL:
            return await self._skill(tenant_id, item_id)
        row = await fetch_one(
            self._pool, "knowledge.get", kind=kind, tenant_id=tenant_id, item_id=item_id
        )
        if row is None:
            raise _missing(kind, item_id)
        return item_of(row)

    async def _skill(self, tenant_id: str, name: str) -> KnowledgeItem:
        bundle = await self._skills.read(name, tenant_id)
        if bundle is None:
            raise _missing(Kind.SKILL, name)
        row = await fetch_one(
            self._pool, "knowledge.skill_change", tenant_id=tenant_id, item_id=name
        )
        # After a DELETE of ours, whatever is there now is somebody else's.
        change = row if row and row["operation"] != Operation.DELETE else {}
        return KnowledgeItem(
            id=name,
            kind=Kind.SKILL,
            tenant_id=tenant_id,
            agent_id="",
            name=name,
            content=bundle.document,
            **{key: change[key] for key in change if key in _FIELDS},
        )

    async def packages(self) -> Mapping[Kind, str]:
        return await packages_in(self._pool)

    async def find_named(
        self, kind: Kind, tenant_id: str, agent_id: str, name: str
    ) -> KnowledgeItem | None:
        row = await fetch_one(
            self._pool,
            "knowledge.find_named",
            kind=kind,
            tenant_id=tenant_id,
            agent_id=agent_id,
            name_key=name_key(name),
        )
        return item_of(row) if row else None

    async def find_same(
        self,
        kind: Kind,
        tenant_id: str,
        agent_id: str,
        content: str,
        *,
        user: str | None = None,
    ) -> KnowledgeItem | None:
        rows = await fetch_all(
            self._pool,
            "knowledge.find_same",
            kind=kind,
            tenant_id=tenant_id,
            agent_id=agent_id,
            same_keys=[*same_keys(content)],
            user=user,
        )
        key = same_key(content)
        return next((item_of(row) for row in rows if same_key(row["content"]) == key), None)

    async def taken(
        self,
        kind: Kind,
        tenant_id: str,
        agent_id: str,
        *,
        ids: Sequence[str],
        contents: Sequence[str],
    ) -> Sequence[KnowledgeItem]:
        rows = await fetch_all(
            self._pool,
            "knowledge.taken",
            kind=kind,
            tenant_id=tenant_id,
            agent_id=agent_id,
            ids=[*ids],
            same_keys=[*map(same_key, contents)],
        )
        return [item_of(row) for row in rows]

    async def some(
        self, kind: Kind, tenant_id: str, agent_id: str, *, since: datetime | None, limit: int
    ) -> Sequence[KnowledgeItem]:
        rows = await fetch_all(
            self._pool,
            "knowledge.some",
            kind=kind,
            tenant_id=tenant_id,
            agent_id=agent_id,
            since=since,
            limit=limit,
        )
        return [item_of(row) for row in rows]

    async def versions(self, kind: Kind, tenant_id: str, item_id: str) -> Sequence[KnowledgeItem]:
        block = "past.skill_versions" if kind is Kind.SKILL else "past.versions"
        rows = await fetch_all(self._pool, block, kind=kind, tenant_id=tenant_id, item_id=item_id)
        if not rows:
            raise _missing(kind, item_id)
        return [item_of(row) for row in rows]

    async def as_of(
        self, kind: Kind, tenant_id: str, item_id: str, at: datetime
    ) -> tuple[KnowledgeItem, Mapping[str, FileRef]]:
        block = "past.skill_as_of" if kind is Kind.SKILL else "past.as_of"
        row = await fetch_one(
            self._pool, block, kind=kind, tenant_id=tenant_id, item_id=item_id, at=at
        )
        if row is None:
            raise await self._absent(kind, tenant_id, item_id, at)
        files = row.pop("files", None) or {}
        refs = {path: FileRef.model_validate(ref) for path, ref in files.items()}
        return item_of(row), refs

    async def _absent(self, kind: Kind, tenant_id: str, item_id: str, at: datetime) -> NotFound:
        try:
            return absent(kind, item_id, at, await self.versions(kind, tenant_id, item_id))
        except NotFound:
            return absent(kind, item_id, at)

    async def list(
        self,
        *,
        tenant_id: str | None,
        agent_id: str | None,
        kind: Kind | None,
        expired: bool = False,
    ) -> Sequence[KnowledgeItem]:
        """Return all current items, newest first; skills from the index, without content."""
        rows = await fetch_all(
            self._pool,
            "knowledge.list",
            tenant_id=tenant_id,
            agent_id=agent_id,
            kind=kind,
            expired=expired,
        )
        return [item_of(row) for row in rows]


async def packages_in(pool: Pool) -> Mapping[Kind, str]:
    """Return which package brought each kind of which there has been an item in a database."""
    rows = await fetch_all(pool, "knowledge.packages")
    return {Kind(row["kind"]): row["package"] for row in rows}


def item_of(row: DictRow) -> KnowledgeItem:
    """Build an item from a row of `knowledge_versions`."""
    known = {key: row[key] for key in row if key in _FIELDS}
    return KnowledgeItem(id=row["item_id"], user=row.get("scope_user"), **known)


def _missing(kind: Kind, item_id: str) -> NotFound:
    return NotFound(Message("no.item", kind=kind, id=item_id), hint=Message("see.knowledge"))


_LISTED = set(Listed.model_fields) - {"id", "cases"}


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
        expired: bool = False,
        archived: bool = False,
    ) -> Sequence[Listed]:
        tenant, after_kind, after_id = after or (None, None, None)
        rows = await fetch_all(
            self._pool,
            "knowledge.archived" if archived else "knowledge.browse",
            tenant_id=tenant_id,
            agent_id=agent_id,
            kind=kind,
            tenant=tenant,
            after_kind=after_kind,
            after_id=after_id,
            limit=limit,
            expired=expired,
        )
        return [
            Listed(id=row["item_id"], **{key: row[key] for key in row if key in _LISTED})
            for row in rows
        ]


class PostgresKnowledgePast:
    """The `KnowledgePast` port."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def last(
        self, item_id: str, *, tenant_id: str | None, kind: Kind | None
    ) -> Sequence[KnowledgeItem]:
        rows = await fetch_all(
            self._pool, "past.last", item_id=item_id, tenant_id=tenant_id, kind=kind
        )
        return [item_of({**row, "content": "", "version": row["version"] or 1}) for row in rows]

    async def version(
        self, kind: Kind, tenant_id: str, item_id: str, version: int
    ) -> tuple[KnowledgeItem, Mapping[str, FileRef]]:
        block = "past.skill_version" if kind is Kind.SKILL else "past.version"
        row = await fetch_one(
            self._pool, block, kind=kind, tenant_id=tenant_id, item_id=item_id, version=version
        )
        if row is None:
            raise NotFound(Message("restore.no_version", kind=kind, id=item_id, version=version))
        files = row.pop("files", None) or {}
        return item_of(row), {path: FileRef.model_validate(ref) for path, ref in files.items()}
