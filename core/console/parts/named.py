"""What the program itself names, in the visitor's words."""

from __future__ import annotations

from datetime import datetime

from markupsafe import Markup

from core.console.parts.lists import badge
from core.console.parts.markup import el
from core.console.visit import Visit
from core.models import ChangeStatus, FeedbackStatus, Kind, Operation


def status(visit: Visit, value: FeedbackStatus | ChangeStatus) -> Markup:
    """Make the badge of a state."""
    return badge(visit.say(f"common.{value.value}"), value.value)


def kind(visit: Visit, value: Kind) -> str:
    """Name a kind of knowledge."""
    return visit.say(f"common.{value.value}")


def operation(visit: Visit, value: Operation) -> str:
    """Name what a change does."""
    return visit.say(f"common.{value.value}")


def moment(visit: Visit, at: datetime | None) -> Markup:
    """Say how long ago something was; the exact time, in UTC, is its title."""
    if at is None:
        return el("span", visit.say("frame.none"), class_="muted")
    exact = at.isoformat(timespec="seconds")
    return el("time", visit.ago(at), datetime=exact, title=exact)
