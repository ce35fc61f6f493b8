"""Feedback over HTTP."""

from __future__ import annotations

from fastapi import APIRouter

from core.api.seats import AtFeedback
from core.models import Feedback

router = APIRouter(prefix="/feedback", tags=["feedback"])


@router.get("/{feedback_id}")
async def get_feedback(feedback_id: str, desk: AtFeedback) -> Feedback:
    """One piece of feedback, and where it stands."""
    return await desk.get(feedback_id)


@router.post("/{feedback_id}/retry")
async def retry_feedback(feedback_id: str, desk: AtFeedback) -> Feedback:
    """Queue an ended piece again."""
    return await desk.retry(feedback_id)
