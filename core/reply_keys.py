"""Model replies outside the ReAct thread: how their keys begin, and the event about one."""

from __future__ import annotations

from core.models import RunEvent, Usage


def matching_prefix(feedback_id: str) -> str:
    """The beginning of the keys under which the matcher's replies on a piece are stored."""
    return f"match:{feedback_id}:"


def candidate_prefix(candidate_id: str) -> str:
    """The beginning of the keys under which replies on a candidate are stored, in all its runs."""
    return f"{candidate_id}:"


def reply_event(key: str, ordinal: int, usage: Usage) -> RunEvent:
    """The event about a stored reply, for observers in this process; the reply is its row."""
    tokens = usage.model_dump(include={"input_tokens", "output_tokens"})
    return RunEvent(name="reply.stored", data={"key": key, "ordinal": ordinal, **tokens})


def kept_key(feedback_id: str) -> str:
    """The key of the one row that keeps what forgotten replies on a piece have cost."""
    return f"{matching_prefix(feedback_id)}pruned"
