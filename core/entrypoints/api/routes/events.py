"""Events over HTTP, as server-sent events."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing
from typing import Annotated

from fastapi import APIRouter, Depends, Header, Query
from fastapi.sse import EventSourceResponse, ServerSentEvent
from pydantic import JsonValue

from core.domain.models import PlacedEvent
from core.entrypoints.api.paging import FeedbackId, TenantId
from core.entrypoints.api.sessions import SessionDep
from core.entrypoints.service.events import Ended, EventsService

RETRY_MILLISECONDS = 2_000
_IDS = {"tenant_id", "feedback_id", "candidate_id", "change_id"}

router = APIRouter(tags=["events"])

After = Annotated[
    str | None,
    Query(description="The `id` of an event: what came after it. `Last-Event-ID` goes before."),
]
LastEventId = Annotated[str | None, Header(description="What a browser sends that comes again.")]
Name = Annotated[str, Query(pattern=r"^[a-z_]+\.[a-z_]+$", max_length=100)]
Names = Annotated[list[Name], Query(max_length=100, description="Only events of these names.")]
Watched = tuple[str, AsyncIterator[PlacedEvent]]


async def _watched(
    session: SessionDep,
    tenant_id: TenantId = None,
    names: Names = [],  # noqa: B006 - FastAPI copies it
    after: After = None,
    last_event_id: LastEventId = None,
) -> Watched:
    """Open the stream before the answer begins, so that errors can still set its status."""
    return await EventsService(session).watch(
        last_event_id or after, tenant_id=tenant_id, names=tuple(names)
    )


async def _of_feedback(
    feedback_id: FeedbackId,
    session: SessionDep,
    after: After = None,
    last_event_id: LastEventId = None,
) -> AsyncIterator[PlacedEvent | Ended]:
    return await EventsService(session).of_feedback(feedback_id, last_event_id or after)


@router.get("/events", response_class=EventSourceResponse)
async def watch_events(
    watched: Annotated[Watched, Depends(_watched)],
) -> AsyncIterator[ServerSentEvent]:
    """All events as they happen, of every worker; without a place those from now on."""
    cursor, events = watched
    # Without data no client reports it, but one that reconnects continues from there.
    yield ServerSentEvent(id=cursor, retry=RETRY_MILLISECONDS, comment="events follow")
    async with aclosing(events):  # type: ignore[type-var]
        async for placed in events:
            yield _sent(placed)


@router.get("/feedback/{feedback_id}/events", response_class=EventSourceResponse)
async def watch_feedback(
    items: Annotated[AsyncIterator[PlacedEvent | Ended], Depends(_of_feedback)],
) -> AsyncIterator[ServerSentEvent]:
    """All events of one piece so far, then as they happen; `end` once it has come to its end."""
    async with aclosing(items):  # type: ignore[type-var]
        async for item in items:
            yield _ended(item) if isinstance(item, Ended) else _sent(item)


def _sent(placed: PlacedEvent) -> ServerSentEvent:
    event = placed.event
    ids = {name: value for name in sorted(_IDS) if (value := getattr(event, name)) is not None}
    data: dict[str, JsonValue] = {
        "name": event.name,
        "at": event.at.isoformat() if event.at else None,
        "ids": ids,
        "data": event.data,
        "state": event.state.model_dump(mode="json", exclude_none=True),
    }
    return ServerSentEvent(event=event.name, id=placed.cursor, raw_data=_json(data))


def _ended(end: Ended) -> ServerSentEvent:
    """Return the last event, which has no id: a client that reconnects receives it again."""
    data: dict[str, JsonValue] = {"feedback_id": end.piece.id, "status": end.piece.status}
    if end.hooks:
        data["hooks"] = [one.model_dump(mode="json", exclude_none=True) for one in end.hooks]
    return ServerSentEvent(event="end", raw_data=_json(data))


def _json(data: Mapping[str, JsonValue]) -> str:
    """Return data on one line, Korean unescaped: people read streams too."""
    return json.dumps(data, ensure_ascii=False)
