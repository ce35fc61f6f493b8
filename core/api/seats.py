"""Who calls: the guard has let them in and left their name in the scope."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated, TypeVar

from fastapi import Depends, Request
from fastapi.security import HTTPBearer

from core.api.opened import Opened
from core.desk.agents import AgentsDesk
from core.desk.changes import ChangesDesk
from core.desk.costs import CostsDesk
from core.desk.feedback import FeedbackDesk
from core.desk.graph.desk import GraphDesk
from core.desk.history import HistoryDesk
from core.desk.knowledge import KnowledgeDesk
from core.desk.run import RunDesk
from core.desk.search import SearchDesk
from core.desk.seat import Seat
from core.desk.work import WorkDesk
from core.errors import Unauthorized
from core.models.access import Principal

PRINCIPAL = "principal"  # where in `scope["state"]` the guard leaves who calls
bearer = HTTPBearer(auto_error=False, description="A token: `skill-worker tokens add`.")


# What does not wait is async all the same: else each call would take two trips to a thread.
async def seat(request: Request) -> Seat:
    """Give the caller's seat. Raises Unauthorized, DependencyDown."""
    principal = getattr(request.state, PRINCIPAL, None)
    if not isinstance(principal, Principal):
        raise Unauthorized("this call needs a token", hint="send Authorization: Bearer <token>")
    opened: Opened = request.app.state.opened
    return Seat(opened(), principal)


Seated = Annotated[Seat, Depends(seat)]
D = TypeVar("D")


def _at(desk: Callable[[Seat], D]) -> Callable[[Seat], Awaitable[D]]:
    """Give what makes a desk of the caller's seat."""

    async def taken(caller: Seated) -> D:
        return desk(caller)

    return taken


AtAgents = Annotated[AgentsDesk, Depends(_at(AgentsDesk))]
AtChanges = Annotated[ChangesDesk, Depends(_at(ChangesDesk))]
AtCosts = Annotated[CostsDesk, Depends(_at(CostsDesk))]
AtFeedback = Annotated[FeedbackDesk, Depends(_at(FeedbackDesk))]
AtGraph = Annotated[GraphDesk, Depends(_at(GraphDesk))]
AtHistory = Annotated[HistoryDesk, Depends(_at(HistoryDesk))]
AtKnowledge = Annotated[KnowledgeDesk, Depends(_at(KnowledgeDesk))]
AtRuns = Annotated[RunDesk, Depends(_at(RunDesk))]
AtSearch = Annotated[SearchDesk, Depends(_at(SearchDesk))]
AtWork = Annotated[WorkDesk, Depends(_at(WorkDesk))]
