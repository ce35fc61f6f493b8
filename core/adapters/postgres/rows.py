"""Rows of our tables as models; a row that somebody else damaged is no reason to break."""

from __future__ import annotations

import structlog
from psycopg.rows import DictRow
from pydantic import ValidationError

from core.domain.models import Candidate, Feedback, Usage

log = structlog.get_logger(__name__)

_FEEDBACK = set(Feedback.model_fields) - {"usage"}
_CANDIDATE = set(Candidate.model_fields) - {"usage"}
# What is shown of a column that cannot be read. All others hold what their type lets in.
_BLANK: dict[str, object] = {"agent_ids": (), "events": ()}


def feedback_of(row: DictRow) -> Feedback:
    """Read a row of `feedback`; what cannot be read of it is left out, and named as its error."""
    feedback, problem = read_feedback(row)
    if problem is None:
        return feedback
    return feedback.model_copy(update={"error": feedback.error or problem})


def read_feedback(row: DictRow) -> tuple[Feedback, str | None]:
    """Read a row of `feedback`, without columns that cannot be read; give what is wrong there.

    Columns that are ours alone are left out.
    """
    known = {key: value for key, value in row.items() if key in _FEEDBACK}
    try:
        return Feedback.model_validate({**known, "usage": usage_of(row)}), None
    except ValidationError as error:
        bad = {str(problem["loc"][0]): problem["msg"] for problem in error.errors()}
    blank = {column: _BLANK[column] for column in bad if column in _BLANK}
    feedback = Feedback.model_validate({**known, **blank, "usage": usage_of(row)})
    return feedback, "; ".join(f"column {name} cannot be read: {bad[name]}" for name in bad)


def candidate_of(row: DictRow) -> Candidate:
    """Read a row of `candidates`; a verdict that cannot be read is none, and is reached again."""
    known = {key: value for key, value in row.items() if key in _CANDIDATE}
    try:
        return Candidate.model_validate({**known, "usage": usage_of(row)})
    except ValidationError as error:
        log.warning("verdict.unreadable", candidate_id=known["id"], error=str(error))
    return Candidate.model_validate({**known, "verdict": None, "usage": usage_of(row)})


def usage_of(row: DictRow) -> Usage:
    """Read the columns of usage."""
    return Usage(
        model_calls=int(row["model_calls"]),
        input_tokens=int(row["input_tokens"]),
        output_tokens=int(row["output_tokens"]),
        cost=row["cost"],
    )
