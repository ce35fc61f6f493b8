"""How keys of stored model replies begin, so that what a piece of feedback spent can be summed."""

from __future__ import annotations


def matching_prefix(feedback_id: str) -> str:
    """The beginning of the keys under which the matcher's replies on a piece are stored."""
    return f"match:{feedback_id}:"


def candidate_prefix(candidate_id: str) -> str:
    """The beginning of the keys under which replies on a candidate are stored, in all its runs."""
    return f"{candidate_id}:"
