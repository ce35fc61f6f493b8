"""Changes over HTTP: the queue of those that wait, what each would do, and deciding."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Path, Query, Response
from pydantic import Field

from core.domain.models import Change, ChangeFilter, ChangeStatus, Edited, Kind, Reach, Receipt
from core.domain.models.base import Model, Page
from core.domain.models.skills import SkillFile
from core.entrypoints.api.paging import AgentId, Cursor, Limit, Reason, TenantId
from core.entrypoints.api.sessions import ChangesServiceDep
from core.entrypoints.service.changes import NextChange
from core.entrypoints.service.review_view.heads import ChangeHead
from core.entrypoints.service.review_view.shown import Side
from core.entrypoints.service.review_view.view import ReviewView

router = APIRouter(prefix="/changes", tags=["changes"])
Seen = Annotated[
    str,
    Field(min_length=1, max_length=100, description="The `content_hash` that was looked at."),
]
ChangeId = Annotated[str, Path(description="Id of the change.")]
# Whatever a file contains, no browser may run it in the name of this server.
_AS_DATA = {
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "Cache-Control": "private, no-store",
}


class Deciding(Model):
    """With `dry_run`, only what would be done is said."""

    dry_run: bool = False


class Approval(Deciding):
    """What was looked at: where it is something else by now, nothing happens."""

    seen: Seen


class Approving(Approval):
    """What was looked at, and why what was found in it is allowed and what it breaks given up."""

    allow: str = Field(
        default="", max_length=2000, description="Why all that was found in it does no harm."
    )
    retire_cases: str = Field(
        default="", max_length=2000, description="Why the cases that it breaks are given up."
    )


class Allowing(Deciding):
    """Which findings are allowed, by their digests (without any: all that hold it), and why."""

    reason: Reason
    findings: list[str] = Field(default=[], max_length=1000)


class Rejection(Approval):
    """What was looked at, and why it is not to be learnt."""

    reason: Reason


class Edit(Approval):
    """What takes the place of a change's content, whole: its text, or a skill's files.

    `content` is a memory's text, a DMN document, a SKILL.md, or a name of a skill on each line;
    `files` is a whole folder, path -> file, with its bytes in base64. `reach` is how long and for
    whom a memory holds: without `content` its text stays.
    """

    content: str | None = None
    reach: Reach | None = None
    files: dict[str, SkillFile] | None = None


class Reverting(Deciding):
    """Why a change is taken back, for the history."""

    reason: Reason = "reverted"


@router.get("")
async def list_changes(
    service: ChangesServiceDep,
    status: Annotated[
        list[ChangeStatus] | None, Query(description="Only these; may be repeated.")
    ] = None,
    kind: Annotated[Kind | None, Query(description="Only this kind of knowledge.")] = None,
    tenant_id: TenantId = None,
    agent_id: AgentId = None,
    feedback_id: Annotated[
        str | None, Query(max_length=200, description="Only what this feedback caused.")
    ] = None,
    target_id: Annotated[
        str | None, Query(max_length=200, description="Only changes of the item with this id.")
    ] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Page[ChangeHead]:
    """Changes, newest first, without their contents."""
    wanted = ChangeFilter(
        statuses=tuple(status or ()),
        kind=kind,
        tenant_id=tenant_id,
        agent_id=agent_id,
        feedback_id=feedback_id,
        target_id=target_id,
    )
    return await service.page(wanted, limit=limit, cursor=cursor)


@router.get("/next")
async def next_change(service: ChangesServiceDep) -> NextChange:
    """What waits longest and nobody else looks at: where a reviewer begins."""
    return await service.next()


@router.get("/{change_id}")
async def get_change(change_id: ChangeId, service: ChangesServiceDep) -> Change:
    """One change whole, with the states before and after it."""
    return await service.get(change_id)


@router.get("/{change_id}/review")
async def review_change(change_id: ChangeId, service: ChangesServiceDep) -> ReviewView:
    """All that there is to look at before one decides."""
    return await service.review_view(change_id)


@router.get(
    "/{change_id}/files",
    response_class=Response,
    responses={200: {"content": {"text/plain": {}, "application/octet-stream": {}}}},
)
async def get_file(
    change_id: ChangeId,
    path: Annotated[str, Query(max_length=1000, description="The file's path in the folder.")],
    service: ChangesServiceDep,
    side: Annotated[Side, Query(description="Before the change, or after it.")] = Side.AFTER,
) -> Response:
    """One file of a change, whole, as it was before or would be after it."""
    data = await service.file(change_id, path, side)
    name = quote(path.rsplit("/", 1)[-1], safe="")
    headers = {"Content-Disposition": f"attachment; filename*=UTF-8''{name}", **_AS_DATA}
    kind = "text/plain; charset=utf-8" if _is_text(data) else "application/octet-stream"
    return Response(data, media_type=kind, headers=headers)


@router.post("/{change_id}/approve")
async def approve_change(
    change_id: ChangeId, body: Approving, service: ChangesServiceDep
) -> Receipt:
    """Apply a change that waits, exactly as it was seen.

    One that something was found in is refused until that is allowed, before or with `allow`, and
    one that breaks cases until these are given up with `retire_cases`.
    """
    return await service.approve(
        change_id,
        seen=body.seen,
        allow=body.allow,
        retire=body.retire_cases,
        dry_run=body.dry_run,
    )


@router.post("/{change_id}/allow")
async def allow_findings(
    change_id: ChangeId, body: Allowing, service: ChangesServiceDep
) -> ChangeHead:
    """Allow what was found in a change: the same text is not held again. It still waits."""
    return await service.allow(
        change_id, reason=body.reason, digests=body.findings, dry_run=body.dry_run
    )


@router.post("/{change_id}/reject")
async def reject_change(
    change_id: ChangeId, body: Rejection, service: ChangesServiceDep
) -> ChangeHead:
    """End a change that waits; nothing is applied."""
    return await service.reject(change_id, reason=body.reason, seen=body.seen, dry_run=body.dry_run)


@router.post("/{change_id}/edit")
async def edit_change(change_id: ChangeId, body: Edit, service: ChangesServiceDep) -> ChangeHead:
    """Put other content in the place of what waits; it is checked, and waits again."""
    edited = Edited(content=body.content, files=body.files, reach=body.reach)
    return await service.edit(change_id, edited, seen=body.seen, dry_run=body.dry_run)


@router.post("/{change_id}/refresh")
async def refresh_change(
    change_id: ChangeId, body: Deciding, service: ChangesServiceDep
) -> ChangeHead:
    """Prepare a change that waits anew, against what is there now; it waits again."""
    return await service.refresh(change_id, dry_run=body.dry_run)


@router.post("/{change_id}/keep-both")
async def keep_both(change_id: ChangeId, body: Approval, service: ChangesServiceDep) -> Receipt:
    """Apply a change that contradicts what is there as an item of its own beside it."""
    return await service.keep_both(change_id, seen=body.seen, dry_run=body.dry_run)


@router.post("/{change_id}/revert")
async def revert_change(
    change_id: ChangeId, body: Reverting, service: ChangesServiceDep
) -> Receipt:
    """Bring the target of an applied change back to what it was before it."""
    return await service.revert(change_id, reason=body.reason, dry_run=body.dry_run)


def _is_text(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return b"\0" not in data
