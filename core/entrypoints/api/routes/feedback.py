"""Feedback over HTTP."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request
from pydantic import Field, JsonValue

from core.changes.retraction.retract import Retraction
from core.domain.models import Feedback, FeedbackFilter, FeedbackStatus, Page
from core.domain.models.base import Model
from core.domain.models.moments import Moment as SaidAt
from core.entrypoints.api.idempotency import HEADER
from core.entrypoints.api.paging import (
    SEEN,
    AgentId,
    Cursor,
    FeedbackId,
    Limit,
    Moment,
    Name,
    Reason,
    TenantId,
)
from core.entrypoints.api.sessions import FeedbackServiceDep
from core.entrypoints.service.feedback import MOST_AT_ONCE, Taken

router = APIRouter(prefix="/feedback", tags=["feedback"])


class FeedbackIn(Model):
    """One thing a user said. With `id`, sending it again is harmless: it is the same piece."""

    id: Name | None = Field(default=None, description="The id it has where it comes from.")
    tenant_id: Name | None = Field(
        default=None, description="Whose it is; without it, the token's tenant."
    )
    agent_ids: list[Name] = Field(min_length=1, description="The agents that it is about.")
    task: str = Field(default="", description="What the agent was doing.")
    content: str = Field(
        min_length=1, pattern=SEEN, description="What the user said, word for word."
    )
    author: str | None = Field(default=None, max_length=200, description="Who said it.")
    events: list[JsonValue] = Field(default=[], description="What happened before, as JSON.")
    said_at: SaidAt | None = Field(
        default=None,
        description="When it was said, with its time zone; without it, now. A time more than five "
        "minutes ahead is not taken.",
    )
    in_reply_to: Name | None = Field(
        default=None,
        description="The piece it answers: the id it has where it comes from, or ours. It may come "
        "later.",
    )
    thread: Name | None = Field(
        default=None, description="The conversation it belongs to, named alike in all its pieces."
    )
    output: JsonValue = Field(
        default=None, description="What the agent had produced, where the words are about that."
    )


class FeedbackBatch(Model):
    """Many pieces of one tenant: all of them are taken in, or none."""

    items: list[FeedbackIn] = Field(min_length=1, max_length=MOST_AT_ONCE)


class TakenBatch(Model):
    """What became of each piece, in their order."""

    items: tuple[Taken, ...]


class Cancelling(Model):
    """Why a piece is not to be learnt from."""

    reason: Reason


class Retracting(Model):
    """With `dry_run`, only what would be done is said."""

    dry_run: bool = False


def _key(request: Request) -> str | None:
    """Return the call's idempotency key; the middleware stores the answer under it."""
    return request.headers.get(HEADER)


Key = Annotated[str | None, Depends(_key)]


@router.post("", status_code=202)
async def add_feedback(piece: FeedbackIn, service: FeedbackServiceDep, key: Key) -> Taken:
    """Take in one thing a user said; the worker learns from it later."""
    (taken,) = await service.add([piece.model_dump(mode="json")], piece.tenant_id, key)
    return taken


@router.post("/batch", status_code=202)
async def add_feedback_batch(
    batch: FeedbackBatch, service: FeedbackServiceDep, key: Key
) -> TakenBatch:
    """Take in many pieces of one tenant: all of them, or none where one is refused."""
    taken = await service.add([piece.model_dump(mode="json") for piece in batch.items], None, key)
    return TakenBatch(items=tuple(taken))


@router.get("")
async def list_feedback(
    service: FeedbackServiceDep,
    status: Annotated[
        tuple[FeedbackStatus, ...], Query(description="Only these; may be repeated.")
    ] = (),
    tenant_id: TenantId = None,
    agent_id: AgentId = None,
    since: Annotated[Moment | None, Query(description="Created then or later.")] = None,
    until: Annotated[Moment | None, Query(description="Created before then.")] = None,
    text: Annotated[
        str | None,
        Query(
            min_length=1,
            max_length=200,
            description="Part of the content, whatever its case, or of the id. Where it is rare "
            "a page may have fewer items than `limit`, even none, and still a `next`.",
        ),
    ] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Page[Feedback]:
    """List feedback, newest first."""
    wanted = FeedbackFilter(
        statuses=status,
        tenant_id=tenant_id,
        agent_id=agent_id,
        since=since,
        until=until,
        text=text,
    )
    return await service.page(wanted, limit=limit, cursor=cursor)


@router.get("/{feedback_id}")
async def get_feedback(feedback_id: FeedbackId, service: FeedbackServiceDep) -> Feedback:
    """One piece of feedback, and where it stands."""
    return await service.get(feedback_id)


@router.post("/{feedback_id}/retry")
async def retry_feedback(feedback_id: FeedbackId, service: FeedbackServiceDep) -> Feedback:
    """Queue an ended piece again."""
    return await service.retry(feedback_id)


@router.post("/{feedback_id}/cancel")
async def cancel_feedback(
    feedback_id: FeedbackId, cancelling: Cancelling, service: FeedbackServiceDep
) -> Feedback:
    """End a piece that waits or is worked on; nothing more is learnt from it."""
    return await service.cancel(feedback_id, cancelling.reason)


@router.post("/{feedback_id}/retract")
async def retract_feedback(
    feedback_id: FeedbackId, retracting: Retracting, service: FeedbackServiceDep
) -> Retraction:
    """Take back what a piece taught and keep what was learnt since.

    Where a later change stands in the way, `in_the_way` names it and nothing was done.
    """
    return await service.retract(feedback_id, dry_run=retracting.dry_run)
