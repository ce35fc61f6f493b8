"""Model replies outside the ReAct thread: how their keys begin, and the event about one."""

from __future__ import annotations

from core.domain.models import RunEvent, Usage

_AUTHOR = ":author"


def matching_prefix(feedback_id: str) -> str:
    """The beginning of the keys under which the matcher's replies on a piece are stored."""
    return f"match:{feedback_id}:"


def candidate_prefix(candidate_id: str) -> str:
    """The beginning of the keys under which replies on a candidate are stored, in all its runs."""
    return f"{candidate_id}:"


def author_prefix(change_key: str) -> str:
    """The beginning of the keys under which the author's replies for a change are stored."""
    return f"{change_key}{_AUTHOR}"


def folded_key(key: str, kept: str) -> str:
    """The key under which the cost of a forgotten reply stays: of its change, else `kept`."""
    change_key, found, _ = key.partition(f"{_AUTHOR}:")
    return author_prefix(change_key) if found else kept


def is_folded(key: str) -> bool:
    """Tell whether a row holds the cost of an author's forgotten replies."""
    return key.endswith(_AUTHOR)


def reply_event(key: str, ordinal: int, usage: Usage) -> RunEvent:
    """The event about a stored reply, for observers in this process; the reply is its row."""
    spent = usage.model_dump(mode="json", include={"input_tokens", "output_tokens", "cost"})
    return RunEvent(name="reply.stored", data={"key": key, "ordinal": ordinal, **spent})


def kept_key(feedback_id: str) -> str:
    """The key of the one row that keeps what forgotten replies on a piece have cost."""
    return f"{matching_prefix(feedback_id)}pruned"
