"""What else waits about the same, and what a change contradicts: side by side."""

from __future__ import annotations

from datetime import datetime

from core.changes.gate.siblings import Relation, Relative
from core.decision_table import read_xml, render_text
from core.domain.errors import NotFound, RuleInvalid
from core.domain.models import Change, Kind, Snapshot
from core.domain.models.base import Model, Text
from core.domain.ports import ChangeLog
from core.entrypoints.service.review_view.heads import ChangeHead, head_of

_CHARS = 2_000


class Beside(Model):
    """Another change that waits; `text` is what it leads to, `feedback` what was said."""

    change: ChangeHead
    relation: Relation
    why: Text
    text: str
    feedback: str
    said_at: datetime | None


class Opposite(Model):
    """What is there and what a change says instead; `feedback` is what either goes back to.

    `change_id` is the change that made what is there, "" if that is not known.
    """

    change_id: str
    known: str
    known_feedback: str
    known_said_at: datetime | None
    instead: str
    feedback: str
    said_at: datetime | None


def beside_of(relative: Relative) -> Beside:
    """Return another change as it is shown beside one."""
    other = relative.change
    return Beside(
        change=head_of(other),
        relation=relative.relation,
        why=relative.why,
        text=_text(other.kind, other.after),
        feedback=other.feedback_content,
        said_at=other.said_at,
    )


async def opposite_of(change: Change, changes: ChangeLog) -> Opposite | None:
    """Return the two between which a person decides; None if a change contradicts nothing."""
    if change.contradicts is None:
        return None
    try:
        known = await changes.get(change.contradicts) if change.contradicts else None
    except NotFound:
        known = None
    return Opposite(
        change_id=known.id if known else "",
        known=_text(change.kind, change.before or (known.after if known else None)),
        known_feedback=known.feedback_content if known else "",
        known_said_at=known.said_at if known else None,
        instead=_text(change.kind, change.after),
        feedback=change.feedback_content,
        said_at=change.said_at,
    )


def _text(kind: Kind, state: Snapshot | None) -> str:
    if state is None:
        return ""
    if kind is not Kind.DMN_RULE:
        return state.content[:_CHARS]
    try:
        return render_text(read_xml(state.content))[:_CHARS]
    except RuleInvalid:
        return state.content[:_CHARS]
