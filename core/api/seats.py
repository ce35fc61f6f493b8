"""Who calls: the guard has let them in and left their name in the scope."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Request
from fastapi.security import HTTPBearer

from core.api.opened import Opened
from core.desk.changes import ChangesDesk
from core.desk.feedback import FeedbackDesk
from core.desk.run import RunDesk
from core.desk.seat import Seat
from core.errors import Unauthorized
from core.models.access import Principal

PRINCIPAL = "principal"  # where in `scope["state"]` the guard leaves who calls
bearer = HTTPBearer(auto_error=False, description="A token: `skill-worker tokens add`.")


def seat(request: Request) -> Seat:
    """Give the caller's seat. Raises Unauthorized, DependencyDown."""
    principal = getattr(request.state, PRINCIPAL, None)
    if not isinstance(principal, Principal):
        raise Unauthorized("this call needs a token", hint="send Authorization: Bearer <token>")
    opened: Opened = request.app.state.opened
    return Seat(opened(), principal)


Seated = Annotated[Seat, Depends(seat)]


def feedback_desk(taken: Seated) -> FeedbackDesk:
    """Give the caller's desk for feedback."""
    return FeedbackDesk(taken)


AtFeedback = Annotated[FeedbackDesk, Depends(feedback_desk)]


def changes_desk(taken: Seated) -> ChangesDesk:
    """Give the caller's desk for changes."""
    return ChangesDesk(taken)


AtChanges = Annotated[ChangesDesk, Depends(changes_desk)]


def run_desk(taken: Seated) -> RunDesk:
    """Give the caller's desk for runs."""
    return RunDesk(taken)


AtRuns = Annotated[RunDesk, Depends(run_desk)]
