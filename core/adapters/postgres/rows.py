"""Models from rows; a damaged row is reported instead of breaking a list."""

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
# Stand-ins for columns that cannot be read. All others are safe by their type.
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
    """Build feedback from a row; unreadable columns are left out and named in its error."""
    feedback, problem = read_feedback(row)
    if problem is None:
        return feedback
    return feedback.model_copy(update={"error": feedback.error or problem})


def read_feedback(row: DictRow) -> tuple[Feedback, str | None]:
    """Build feedback from a row without unreadable columns; return what is wrong with them too.

    Internal columns are left out.
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
    """Build a candidate from a row; an unreadable verdict is dropped, to be reached again."""
    known = {key: value for key, value in row.items() if key in _CANDIDATE}
    try:
        return Candidate.model_validate({**known, "usage": usage_of(row)})
    except ValidationError as error:
        log.warning("verdict.unreadable", candidate_id=known["id"], error=str(error))
    return Candidate.model_validate({**known, "verdict": None, "usage": usage_of(row)})


def usage_of(row: DictRow) -> Usage:
    """Build usage from its columns."""
    return Usage(
        model_calls=int(row["model_calls"]),
        input_tokens=int(row["input_tokens"]),
        output_tokens=int(row["output_tokens"]),
        cost=row["cost"],
    )
