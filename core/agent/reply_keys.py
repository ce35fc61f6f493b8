"""Keys of model replies stored outside the ReAct thread, and the event of one."""

from __future__ import annotations

from core.domain.models import RunEvent, Usage


def matching_prefix(feedback_id: str) -> str:
    """Return the key prefix of the matcher's replies on a piece of feedback."""
    return f"match:{feedback_id}:"


def candidate_prefix(candidate_id: str) -> str:
    """Return the key prefix of all replies on a candidate, over all of its runs."""
    return f"{candidate_id}:"


def author_prefix(change_key: str) -> str:
    """Return the key prefix of the author's replies for a change."""
    return f"{change_key}:author"


def reply_event(key: str, ordinal: int, usage: Usage) -> RunEvent:
    """Return the event of a stored reply, for observers in this process."""
    spent = usage.model_dump(mode="json", include={"input_tokens", "output_tokens", "cost"})
    return RunEvent(name="reply.stored", data={"key": key, "ordinal": ordinal, **spent})


def pruned_key(feedback_id: str) -> str:
    """Return the key of the row that sums the cost of the pruned replies on a piece."""
    return f"{matching_prefix(feedback_id)}pruned"
