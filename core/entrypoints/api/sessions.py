"""FastAPI dependencies: the caller's session, and each service for that session."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated, TypeVar

from fastapi import Depends, Request
from fastapi.security import HTTPBearer

from core.domain.errors import Unauthorized
from core.domain.messages import Message
from core.domain.models.access import Principal
from core.entrypoints.api.opened import Opened
from core.entrypoints.service.agents import AgentsService
from core.entrypoints.service.cases import CasesService
from core.entrypoints.service.changes import ChangesService
from core.entrypoints.service.context import ContextService
from core.entrypoints.service.costs import CostsService
from core.entrypoints.service.deliveries import DeliveriesService
from core.entrypoints.service.effect import EffectService
from core.entrypoints.service.feedback import FeedbackService
from core.entrypoints.service.graph.service import GraphService
from core.entrypoints.service.history import HistoryService
from core.entrypoints.service.knowledge import KnowledgeService
from core.entrypoints.service.run import RunService
from core.entrypoints.service.search import SearchService
from core.entrypoints.service.session import Session
from core.entrypoints.service.signed_in import SignedInService
from core.entrypoints.service.work import WorkService

PRINCIPAL = "principal"  # where in `scope["state"]` the guard stores the caller
bearer = HTTPBearer(auto_error=False, description="A token: `skill-worker tokens add`.")


# FastAPI runs a sync dependency in a thread: `async` saves two thread hops per call.
async def current_session(request: Request) -> Session:
    """Return the session of the caller. Raises Unauthorized, DependencyDown."""
    principal = getattr(request.state, PRINCIPAL, None)
    if not isinstance(principal, Principal):
        raise Unauthorized(Message("access.needs_token"), hint=Message("access.hint_bearer"))
    opened: Opened = request.app.state.opened
    return Session(opened(), principal, about=request.scope.setdefault("state", {}))


SessionDep = Annotated[Session, Depends(current_session)]
ServiceT = TypeVar("ServiceT")


def _provider(service: Callable[[Session], ServiceT]) -> Callable[[Session], Awaitable[ServiceT]]:
    """Return a dependency that creates a service for the caller's session."""

    async def provide(session: SessionDep) -> ServiceT:
        return service(session)

    return provide


AgentsServiceDep = Annotated[AgentsService, Depends(_provider(AgentsService))]
CasesServiceDep = Annotated[CasesService, Depends(_provider(CasesService))]
ChangesServiceDep = Annotated[ChangesService, Depends(_provider(ChangesService))]
ContextServiceDep = Annotated[ContextService, Depends(_provider(ContextService))]
CostsServiceDep = Annotated[CostsService, Depends(_provider(CostsService))]
DeliveriesServiceDep = Annotated[DeliveriesService, Depends(_provider(DeliveriesService))]
EffectServiceDep = Annotated[EffectService, Depends(_provider(EffectService))]
FeedbackServiceDep = Annotated[FeedbackService, Depends(_provider(FeedbackService))]
GraphServiceDep = Annotated[GraphService, Depends(_provider(GraphService))]
HistoryServiceDep = Annotated[HistoryService, Depends(_provider(HistoryService))]
KnowledgeServiceDep = Annotated[KnowledgeService, Depends(_provider(KnowledgeService))]
RunServiceDep = Annotated[RunService, Depends(_provider(RunService))]
SearchServiceDep = Annotated[SearchService, Depends(_provider(SearchService))]
SignedInServiceDep = Annotated[SignedInService, Depends(_provider(SignedInService))]
WorkServiceDep = Annotated[WorkService, Depends(_provider(WorkService))]
