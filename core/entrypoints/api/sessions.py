"""Who calls: the guard has let them in and left their name in the scope."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated, TypeVar

from fastapi import Depends, Request
from fastapi.security import HTTPBearer

from core.domain.errors import Unauthorized
from core.domain.models.access import Principal
from core.entrypoints.api.opened import Opened
from core.entrypoints.service.agents import AgentsDesk
from core.entrypoints.service.changes import ChangesDesk
from core.entrypoints.service.costs import CostsDesk
from core.entrypoints.service.feedback import FeedbackDesk
from core.entrypoints.service.graph.service import GraphDesk
from core.entrypoints.service.history import HistoryDesk
from core.entrypoints.service.knowledge import KnowledgeDesk
from core.entrypoints.service.run import RunDesk
from core.entrypoints.service.search import SearchDesk
from core.entrypoints.service.session import Seat
from core.entrypoints.service.work import WorkDesk

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
