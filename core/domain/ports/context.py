"""What may belong in the context of a task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from core.domain.models import Agent, Kind
from core.domain.models.context import TaskMatch, TaskMeaning


class TaskMatches(Protocol):
    """Finds what may matter for a task among all that an agent may use."""

    async def find(self, task: str, agent: Agent, *, user: str | None) -> Sequence[TaskMatch]:
        """Return the items of each kind that match a task best, in no order.

        The agent's own and those for its whole tenant, of skills those on its list. Not what is
        over, and what is for one end user only with that `user`.
        """


class Meant(Protocol):
    """Finds by meaning."""

    async def __call__(
        self,
        text: str,
        *,
        tenant_id: str,
        agent_id: str | None,
        limits: Mapping[Kind, int],
        skills: Sequence[str],
    ) -> TaskMeaning | None:
        """Return the items of each kind nearest in meaning; None if no model answers in time.

        Of skills only those on the agent's list, `skills`, are looked at.
        """
