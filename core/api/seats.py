"""Who calls: the guard has let them in and left their name in the scope."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Request
from fastapi.security import HTTPBearer

from core.api.opened import Opened
from core.desk.agents import AgentsDesk
from core.desk.changes import ChangesDesk
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


def history_desk(taken: Seated) -> HistoryDesk:
    """Give the caller's desk for history."""
    return HistoryDesk(taken)


AtHistory = Annotated[HistoryDesk, Depends(history_desk)]


def agents_desk(taken: Seated) -> AgentsDesk:
    """Give the caller's desk for agents."""
    return AgentsDesk(taken)


AtAgents = Annotated[AgentsDesk, Depends(agents_desk)]


def work_desk(taken: Seated) -> WorkDesk:
    """Give the caller's desk for the intake of work."""
    return WorkDesk(taken)


AtWork = Annotated[WorkDesk, Depends(work_desk)]


def knowledge_desk(taken: Seated) -> KnowledgeDesk:
    """Give the caller's desk for what is known."""
    return KnowledgeDesk(taken)


AtKnowledge = Annotated[KnowledgeDesk, Depends(knowledge_desk)]


def search_desk(taken: Seated) -> SearchDesk:
    """Give the caller's desk for searches."""
    return SearchDesk(taken)


AtSearch = Annotated[SearchDesk, Depends(search_desk)]


def graph_desk(taken: Seated) -> GraphDesk:
    """Give the caller's desk for the graph."""
    return GraphDesk(taken)


AtGraph = Annotated[GraphDesk, Depends(graph_desk)]
