"""The way of one piece of feedback over HTTP."""

from __future__ import annotations

from fastapi import APIRouter

from core.entrypoints.api.paging import FeedbackId
from core.entrypoints.api.sessions import RunServiceDep
from core.entrypoints.service.run import RunLine

router = APIRouter(prefix="/feedback", tags=["runs"])


@router.get("/{feedback_id}/run")
async def get_run(feedback_id: FeedbackId, service: RunServiceDep) -> RunLine:
    """How it came to what it did: match, turns, calls of tools, changes, errors, attempts."""
    return await service.timeline(feedback_id)
