"""Who calls over MCP: a session of the program, and the agent whose knowledge is used."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from core.domain.models.access import Role
from core.domain.tasks import as_far_as
from core.entrypoints.service.agent_knowledge import AgentKnowledge
from core.entrypoints.service.session import Session


@dataclass(frozen=True)
class Caller:
    """A principal that uses what one agent knows; `user` is the end user that it serves."""

    session: Session
    agent_id: str | None = None
    tenant_id: str | None = None
    user: str | None = None

    @property
    def may_submit(self) -> bool:
        """Whether the caller may give feedback."""
        return Role.SUBMIT in self.session.principal.roles

    @contextmanager
    def knowledge(self) -> Iterator[AgentKnowledge]:
        """Yield what the agent knows; inside, the database shows its tenant alone."""
        with as_far_as(self.session.principal.tenant_id or self.tenant_id):
            yield AgentKnowledge(self.session, self.tenant_id)
