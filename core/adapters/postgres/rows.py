"""Rows of our tables as models; a row that somebody else damaged is no reason to break."""

from __future__ import annotations

from collections.abc import Mapping

import structlog
from psycopg.rows import DictRow
from psycopg.types.json import Jsonb
from pydantic import TypeAdapter, ValidationError

from core.domain.messages import Message
from core.domain.models import Candidate, Feedback, Usage
from core.domain.models.messages import read_message

_SAID = TypeAdapter[dict[str, object]](dict[str, object])

log = structlog.get_logger(__name__)

_FEEDBACK = set(Feedback.model_fields) - {"usage"}
_CANDIDATE = set(Candidate.model_fields) - {"usage"}
# What is shown of a column that cannot be read. All others hold what their type lets in.
_BLANK: dict[str, object] = {"agent_ids": (), "events": ()}


def to_said(*texts: str | None) -> Jsonb | None:
    """Return what the messages among texts were written from, by text; None without any."""
    found = {str(text): text.to_json() for text in texts if isinstance(text, Message)}
    return Jsonb(found) if found else None


def recalled(said: object) -> Mapping[str, Message]:
    """Return the messages that stored texts were, by text; none of what cannot be read."""
    try:
        return {
            text: read_message(data) for text, data in _SAID.validate_python(said or {}).items()
        }
    except ValueError:
        return {}


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
    known["error"] = recalled(row["said"]).get(row["error"], row["error"])
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
