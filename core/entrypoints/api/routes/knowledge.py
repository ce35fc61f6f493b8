"""What is known over HTTP. Ids may contain anything, slashes too: they are in the query."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import Field

from core.domain.models import Kind, Receipt
from core.domain.models.base import Model
from core.domain.models.views import KnowledgeFilter
from core.entrypoints.api.paging import AgentId, Cursor, Limit, Moment, TenantId
from core.entrypoints.api.sessions import KnowledgeServiceDep
from core.entrypoints.service.items import Known, KnownPage, KnownText, Provenance, Versions

router = APIRouter(prefix="/knowledge", tags=["knowledge"])

_LONGEST = 2000
_NEWEST = 2**31 - 1
_ID = "The id of the item, or a name that one item alone has."
ItemId = Annotated[str, Query(alias="id", min_length=1, max_length=_LONGEST, description=_ID)]
KindName = Annotated[Kind | None, Query(description="Only this kind of knowledge.")]
At = Annotated[Moment | None, Query(description="As it stood then; with a time zone.")]
VersionNumber = Annotated[int | None, Query(ge=1, le=_NEWEST, description="As this version.")]


class Restoring(Model):
    """Which item to bring back to which version. With `dry_run`, only what would be is said."""

    id: str = Field(min_length=1, max_length=_LONGEST, description=_ID)
    version: int = Field(ge=1, le=_NEWEST)
    kind: Kind | None = None
    tenant_id: str | None = Field(default=None, max_length=200)
    dry_run: bool = False


@router.get("")
async def list_knowledge(
    service: KnowledgeServiceDep,
    kind: KindName = None,
    agent_id: AgentId = None,
    tenant_id: TenantId = None,
    expired: Annotated[bool, Query(description="Memories whose time is over, instead.")] = False,
    archived: Annotated[bool, Query(description="What was archived, instead.")] = False,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> KnownPage:
    """List memories, decision tables and skills by tenant, kind and id."""
    wanted = KnowledgeFilter(
        tenant_id=tenant_id, agent_id=agent_id, kind=kind, expired=expired, archived=archived
    )
    return await service.page(wanted, cursor=cursor, limit=limit)


@router.get("/item")
async def get_knowledge(
    service: KnowledgeServiceDep,
    item_id: ItemId,
    kind: KindName = None,
    tenant_id: TenantId = None,
    at: At = None,
    version: VersionNumber = None,
) -> Known:
    """One item as it stands, as it stood at a time, or one version of it."""
    return await service.get(item_id, kind=kind, tenant_id=tenant_id, at=at, version=version)


@router.get("/file")
async def get_skill_file(
    service: KnowledgeServiceDep,
    item_id: ItemId,
    path: Annotated[str, Query(min_length=1, max_length=_LONGEST, description="The file's path.")],
    tenant_id: TenantId = None,
    at: At = None,
    version: VersionNumber = None,
) -> KnownText:
    """One file of a skill; a binary one without its text."""
    return await service.file(item_id, path, tenant_id=tenant_id, at=at, version=version)


@router.get("/versions")
async def list_knowledge_versions(
    service: KnowledgeServiceDep, item_id: ItemId, kind: KindName = None, tenant_id: TenantId = None
) -> Versions:
    """The versions of an item, newest first, each with what brought it."""
    return await service.versions(item_id, kind=kind, tenant_id=tenant_id)


@router.get("/provenance")
async def get_provenance(
    service: KnowledgeServiceDep,
    item_id: ItemId,
    kind: KindName = None,
    tenant_id: TenantId = None,
    path: Annotated[
        str | None,
        Query(min_length=1, max_length=_LONGEST, description="Of a skill: a file, else SKILL.md."),
    ] = None,
) -> Provenance:
    """Which version, change and feedback brought each line, or each row of a decision table."""
    return await service.provenance(item_id, kind=kind, tenant_id=tenant_id, path=path)


@router.post("/restore")
async def restore_knowledge(wanted: Restoring, service: KnowledgeServiceDep) -> Receipt:
    """Bring an item back to a version, byte for byte; the review policy may hold the change."""
    return await service.restore(
        wanted.id,
        wanted.version,
        kind=wanted.kind,
        tenant_id=wanted.tenant_id,
        dry_run=wanted.dry_run,
    )
