"""Knowledge: browse it, its past and its provenance, and restore a version."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from core.decision_table import parse_xml
from core.domain.errors import InvalidInput, NotFound, RuleInvalid
from core.domain.messages import Message
from core.domain.models import DecisionTable, Kind, Receipt, SkillFile
from core.domain.models.access import Role
from core.domain.models.feedback import is_reserved
from core.domain.models.views import KnowledgeFilter
from core.domain.paging import decode_parts, encode_parts, query_digest
from core.entrypoints.service.items import (
    Known,
    KnownFile,
    KnownPage,
    KnownText,
    Provenance,
    Versions,
)
from core.entrypoints.service.owners import follow_skills, own_agent
from core.entrypoints.service.provenance import provenance_of
from core.entrypoints.service.session import Session, acting
from core.knowledge.history import MAX_VERSIONS, KnownItems, Shown
from core.skills.bundle import file_hash, is_text

_LIST = "knowledge"


@dataclass(frozen=True)
class KnowledgeService:
    """Every method raises Forbidden without its role; what is another tenant's is NotFound.

    An item is named by its id, or by a name that only one item has; without a tenant or a kind all
    are searched. InvalidInput if several match.
    """

    session: Session

    async def page(
        self, wanted: KnowledgeFilter, *, cursor: str | None = None, limit: int = 50
    ) -> KnownPage:
        """Return what is known by tenant, kind and id. Raises InvalidInput on another's cursor."""
        self.session.require(Role.READ)
        await self.session.app.require_kind(wanted.kind)
        wanted = wanted.model_copy(update={"tenant_id": self.session.tenant(wanted.tenant_id)})
        if wanted.agent_id is not None and not is_reserved(wanted.agent_id):
            agent = await own_agent(self.session, wanted.agent_id, wanted.tenant_id)
            wanted = wanted.model_copy(update={"tenant_id": agent.tenant_id})
        if wanted.expired and wanted.archived:
            raise InvalidInput(Message("knowledge.one_state"))
        query = query_digest(_LIST, wanted)
        after = decode_parts(cursor, query, 3) if cursor is not None else None
        warnings: tuple[str, ...] = ()
        if cursor is None and wanted.kind in {None, Kind.SKILL} and not wanted.archived:
            warnings = await follow_skills(self.session, wanted.tenant_id)
        items = await self.session.stores.pages.browse(
            tenant_id=wanted.tenant_id,
            agent_id=wanted.agent_id,
            kind=wanted.kind,
            after=(after[0], after[1], after[2]) if after else None,
            limit=limit + 1,
            expired=wanted.expired,
            archived=wanted.archived,
        )
        shown, last = items[:limit], items[limit - 1] if len(items) > limit else None
        following = encode_parts((last.tenant_id, last.kind, last.id), query) if last else None
        counts = await self.session.stores.cases.counts([one.key for one in shown])
        known = (one.model_copy(update={"cases": counts.get(one.key, one.cases)}) for one in shown)
        return KnownPage(items=tuple(known), next=following, warnings=warnings)

    async def get(
        self,
        item_id: str,
        *,
        kind: Kind | None = None,
        tenant_id: str | None = None,
        at: datetime | None = None,
        version: int | None = None,
    ) -> Known:
        """Return an item as it is, as it was `at` a time, or one version. Raises NotFound."""
        shown = await self._shown(item_id, kind, tenant_id, at, version)
        item = shown.item
        table, problem = _table(item.content) if item.kind is Kind.DMN_RULE else (None, "")
        return Known(
            item=item,
            as_of=shown.at,
            versions=shown.versions,
            replaces=shown.replaced,
            by=shown.by,
            files=known_files(shown.files),
            table=table,
            table_problem=problem,
        )

    async def file(
        self,
        item_id: str,
        path: str,
        *,
        tenant_id: str | None = None,
        at: datetime | None = None,
        version: int | None = None,
    ) -> KnownText:
        """Return one file of a skill. Raises NotFound."""
        shown = await self._shown(item_id, Kind.SKILL, tenant_id, at, version)
        if path not in shown.files:
            raise NotFound(
                Message("no.file_of_skill", id=shown.item.id, path=path),
                hint=Message("see.files"),
            )
        file = shown.files[path]
        facts = _file(path, file)
        text = file.data.decode("utf-8") if facts.is_text else None
        return KnownText(**facts.model_dump(), text=text)

    async def versions(
        self, item_id: str, *, kind: Kind | None = None, tenant_id: str | None = None
    ) -> Versions:
        """Return the versions of an item, also of a deleted one. Raises NotFound."""
        self.session.require(Role.READ)
        item = await known_items(self.session).find(item_id, self.session.tenant(tenant_id), kind)
        made = await self.session.stores.lineage.made(
            item.kind, item.tenant_id, item.id, limit=MAX_VERSIONS, max_bytes=0
        )
        oldest = next((one.version for one in made if one.version is not None), 1)
        return Versions(
            kind=item.kind,
            id=item.id,
            tenant_id=item.tenant_id,
            items=tuple(one.alone() for one in reversed(made)),
            left_out=oldest - 1,
        )

    async def provenance(
        self,
        item_id: str,
        *,
        kind: Kind | None = None,
        tenant_id: str | None = None,
        path: str | None = None,
    ) -> Provenance:
        """Return which version brought each line of an item or of a file, or each row of a table.

        Raises NotFound.
        """
        shown = await self._shown(item_id, kind, tenant_id)
        app = self.session.app
        return await provenance_of(
            shown.item, shown.files, path, app.stores.lineage, app.stores.changes
        )

    @acting
    async def restore(
        self,
        item_id: str,
        version: int,
        *,
        kind: Kind | None = None,
        tenant_id: str | None = None,
        dry_run: bool = False,
    ) -> Receipt:
        """Restore an item to one of its versions, byte for byte. Raises NotFound."""
        self.session.require(Role.REVIEW)
        item = await known_items(self.session).find(item_id, self.session.tenant(tenant_id), kind)
        app = self.session.app.as_dry_run() if dry_run else self.session.app
        return await app.restorer.restore(item, version, self.session.principal.name)

    async def _shown(
        self,
        item_id: str,
        kind: Kind | None,
        tenant_id: str | None,
        at: datetime | None = None,
        version: int | None = None,
    ) -> Shown:
        self.session.require(Role.READ)
        reference = (item_id, self.session.tenant(tenant_id), kind)
        if at is not None and version is not None:
            raise InvalidInput(
                Message("history.time_and_version"),
                hint=Message("history.drop_one"),
            )
        if at is not None:
            return await known_items(self.session).as_of(*reference, at)
        if version is not None:
            return await known_items(self.session).version(*reference, version)
        return await known_items(self.session).current(*reference)


def known_items(session: Session) -> KnownItems:
    """Return what looks items up for a session, which checks whose they are."""
    stores = session.stores
    return KnownItems(
        knowledge=stores.knowledge,
        past=stores.past,
        lineage=stores.lineage,
        changes=stores.changes,
        skills=stores.skills,
        follow=lambda tenant: follow_skills(session, tenant),
    )


def _table(content: str) -> tuple[DecisionTable | None, str]:
    try:
        return parse_xml(content), ""
    except RuleInvalid as error:
        return None, error.message


def known_files(files: Mapping[str, SkillFile]) -> tuple[KnownFile, ...]:
    """Return the files of a skill with their digests, by path."""
    return tuple(_file(path, file) for path, file in sorted(files.items()))


def _file(path: str, file: SkillFile) -> KnownFile:
    return KnownFile(
        path=path,
        size=len(file.data),
        executable=file.executable,
        sha256=file_hash(file),
        is_text=b"\0" not in file.data and is_text(file.data),
    )
