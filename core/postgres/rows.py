"""Rows of our tables as models."""

from __future__ import annotations

from psycopg.rows import DictRow

from core.models import Candidate, Feedback, Usage

_FEEDBACK = set(Feedback.model_fields) - {"usage"}
_CANDIDATE = set(Candidate.model_fields) - {"usage"}


def feedback_of(row: DictRow) -> Feedback:
    """Read a row of `feedback`; columns that are ours alone are left out."""
    known = {key: value for key, value in row.items() if key in _FEEDBACK}
    return Feedback.model_validate({**known, "usage": usage_of(row)})


def candidate_of(row: DictRow) -> Candidate:
    """Read a row of `candidates`."""
    known = {key: value for key, value in row.items() if key in _CANDIDATE}
    return Candidate.model_validate({**known, "usage": usage_of(row)})


def usage_of(row: DictRow) -> Usage:
    """Read the columns of usage."""
    return Usage(
        model_calls=int(row["model_calls"]),
        input_tokens=int(row["input_tokens"]),
        output_tokens=int(row["output_tokens"]),
    )
