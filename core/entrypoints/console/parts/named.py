"""The program's own terms, in the visitor's words."""

from __future__ import annotations

from datetime import datetime

from markupsafe import Markup

from core.domain.models import ChangeStatus, FeedbackStatus, Kind, Operation, Reach, Scope, Usage
from core.entrypoints.console.parts.lists import badge
from core.entrypoints.console.parts.markup import el
from core.entrypoints.console.visit import Visit
from core.entrypoints.service.costs import CostsService
from core.entrypoints.service.review_view.shown import RowKind

_LIKE = {RowKind.ADDED: "completed", RowKind.REMOVED: "failed", RowKind.CHANGED: "processing"}


def status(visit: Visit, value: FeedbackStatus | ChangeStatus) -> Markup:
    """Return the badge of a status."""
    return badge(visit.say(f"common.{value.value}"), value.value)


def kind(visit: Visit, value: Kind) -> str:
    """Return the words for a kind of knowledge; for one whose package is missing its name."""
    if value.is_built_in:
        return visit.say(f"common.{value.value}")
    own = next((kind for kind in visit.session.app.kinds if kind.name == value), None)
    return own.titles[visit.language.value] if own else value.value


def operation(visit: Visit, value: Operation) -> str:
    """Return the words for what a change does."""
    return visit.say(f"common.{value.value}")


def row_kind(visit: Visit, value: RowKind) -> Markup:
    """Return the badge of what became of a file, a row or a column."""
    return badge(visit.say(f"diff.{value.value}"), _LIKE.get(value, ""))


def spent(visit: Visit, usage: Usage) -> str:
    """Return the words for what model calls cost."""
    return visit.say(
        "common.spent_of",
        calls=f"{usage.model_calls:,}",
        tokens=f"{usage.input_tokens + usage.output_tokens:,}",
        money=f"{usage.cost:.4f}",
        currency=CostsService(visit.session).currency,
    )


def moment(visit: Visit, at: datetime | None) -> Markup:
    """Return how long ago something was; the exact time, in the reader's zone, is its title."""
    if at is None:
        return el("span", visit.say("frame.none"), class_="muted")
    exact = at.isoformat(timespec="seconds")
    return el("time", visit.ago(at), datetime=exact, title=visit.local(at))


def reach_text(visit: Visit, reach: Reach, agent: str = "") -> str:
    """Return for whom and how long a memory holds."""
    whom = {
        Scope.AGENT: visit.say("common.for_agent", agent=agent) if agent else "",
        Scope.TENANT: visit.say("common.for_tenant"),
        Scope.USER: visit.say("common.for_user", user=reach.user or ""),
    }[reach.scope]
    until = ""
    if reach.valid_until is not None:
        until = visit.say("common.until", time=visit.local(reach.valid_until))
    return " · ".join(filter(None, (whom, until)))
