"""Who calls: the guard has let them in and left their name in the scope."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated, TypeVar

from fastapi import Depends, Request
from fastapi.security import HTTPBearer

from core.domain.errors import Unauthorized
from core.domain.models.access import Principal
from core.entrypoints.api.opened import Opened
from core.entrypoints.service.agents import AgentsService
from core.entrypoints.service.changes import ChangesService
from core.entrypoints.service.costs import CostsService
from core.entrypoints.service.feedback import FeedbackService
from core.entrypoints.service.graph.service import GraphService
from core.entrypoints.service.history import HistoryService
from core.entrypoints.service.knowledge import KnowledgeService
from core.entrypoints.service.run import RunService
from core.entrypoints.service.search import SearchService
from core.entrypoints.service.session import Session
from core.entrypoints.service.work import WorkService

PRINCIPAL = "principal"  # where in `scope["state"]` the guard leaves who calls
bearer = HTTPBearer(auto_error=False, description="A token: `skill-worker tokens add`.")


# What does not wait is async all the same: else each call would take two trips to a thread.
async def session(request: Request) -> Session:
    """Give the caller's seat. Raises Unauthorized, DependencyDown."""
    principal = getattr(request.state, PRINCIPAL, None)
    if not isinstance(principal, Principal):
        raise Unauthorized("this call needs a token", hint="send Authorization: Bearer <token>")
    opened: Opened = request.app.state.opened
    return Session(opened(), principal)


Caller = Annotated[Session, Depends(session)]
D = TypeVar("D")


def _at(service: Callable[[Session], D]) -> Callable[[Session], Awaitable[D]]:
    """Give what makes a desk of the caller's seat."""

    async def taken(caller: Caller) -> D:
        return service(caller)

    return taken


AtAgents = Annotated[AgentsService, Depends(_at(AgentsService))]
AtChanges = Annotated[ChangesService, Depends(_at(ChangesService))]
AtCosts = Annotated[CostsService, Depends(_at(CostsService))]
AtFeedback = Annotated[FeedbackService, Depends(_at(FeedbackService))]
AtGraph = Annotated[GraphService, Depends(_at(GraphService))]
AtHistory = Annotated[HistoryService, Depends(_at(HistoryService))]
AtKnowledge = Annotated[KnowledgeService, Depends(_at(KnowledgeService))]
AtRuns = Annotated[RunService, Depends(_at(RunService))]
AtSearch = Annotated[SearchService, Depends(_at(SearchService))]
AtWork = Annotated[WorkService, Depends(_at(WorkService))]
