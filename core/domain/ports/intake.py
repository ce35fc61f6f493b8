"""Feedback on its way in: sources, the inbox, and the agents it is for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from core.domain.models import (
    Agent,
    Feedback,
    FeedbackStatus,
    Fetched,
    NewFeedback,
    Outcome,
    Pause,
    Undecided,
    Waiting,
)


class FeedbackSource(Protocol):
    """Where feedback is fetched from, and told what became of it."""

    @property
    def name(self) -> str:
        """The source's name, part of each piece's identity."""

    async def fetch(self, limit: int) -> Fetched:
        """Give what is not yet acknowledged, oldest first: of about `limit` of its records.

        A piece may be given again until it is acknowledged, whatever worker took it; each has
        an `id`. Raises ConfigurationError, DependencyDown.
        """

    async def accept(self, pieces: Sequence[NewFeedback]) -> None:
        """Tell the source that these are stored here; repeating it changes nothing."""

    async def acknowledge(self, source_id: str, outcome: Outcome) -> None:
        """Tell the source what a piece came to; repeating it changes nothing.

        A record that is gone is fine. Raises ConfigurationError, DependencyDown.
        """

    async def ping(self) -> None:
        """See that the source answers. Raises ConfigurationError, DependencyDown."""


class Deliveries(Protocol):
    """What outside sources gave, and what they have yet to be told."""

    async def known(self, source: str, source_ids: Sequence[str]) -> Mapping[str, FeedbackStatus]:
        """Give those of a source's ids that are stored, and where each piece stands."""

    async def unacknowledged(self, source: str, limit: int) -> Sequence[Feedback]:
        """Give ended pieces whose source does not know it yet, longest ended first."""

    async def acknowledged(self, ended: Feedback) -> None:
        """Note that the source knows this end; nothing where the piece was revived since."""


class Inbox(Protocol):
    """Feedback as we hold it, and the one job that each piece has."""

    async def add(self, source: str, pieces: Sequence[NewFeedback]) -> Sequence[tuple[str, bool]]:
        """Store pieces and defer a job for each new one, in one transaction.

        Gives (feedback id, True where it is new) for each. Raises InvalidInput where a known
        (source, id) comes again with other content.
        """

    async def add_first(self, source: str, piece: NewFeedback, agent: Agent) -> bool:
        """Store the piece of an agent that waits to be set up, and note that it waits no more.

        Both in one transaction. True where the piece is new; where the agent waits no more, or
        is not as it was given here, nothing happens.
        """

    async def get(self, feedback_id: str) -> Feedback:
        """Give one piece. Raises NotFound."""

    async def claim(self, feedback_id: str) -> Feedback | None:
        """Start an attempt: `processing`, attempts + 1, epoch + 1. None where it has ended."""

    async def give_back(
        self, claimed: Feedback, error: str, delay: float, *, counts: bool = True
    ) -> None:
        """Queue it again in `delay` seconds, in one transaction with its new job.

        Where the attempt does not count it is taken back. Raises LeaseLost where the piece has
        ended or was taken up since it was claimed; nothing changes then.
        """

    async def finish(self, claimed: Feedback, outcome: Outcome) -> None:
        """Record the end of a piece and all that was spent on it, over all generations.

        Raises LeaseLost where it has ended or was claimed again since; nothing changes then.
        """


class Intake(Protocol):
    """What people ask of the queue: bring one back, take one off, hold all back."""

    async def revive(self, feedback_id: str) -> Feedback:
        """Queue an ended piece again under the next generation. Raises NotFound, Refused."""

    async def cancel(self, feedback_id: str, reason: str) -> Feedback:
        """End a piece as `cancelled`; whoever works on it is fenced off.

        Raises NotFound; Refused where it has ended.
        """

    async def pause(self, reason: str) -> Pause:
        """Let all workers begin nothing new.

        A second pause keeps the time of the first, and its reason where it has none itself.
        """

    async def resume(self) -> bool:
        """Let workers begin again; True where they were paused."""

    async def paused(self) -> Pause | None:
        """Give the pause, or None."""


class Backlog(Protocol):
    """The whole queue in figures, for those who watch it."""

    async def waiting(self) -> Waiting:
        """Give what has not ended. Cheap: it grows with what waits, not with what was."""

    async def ended(self) -> Mapping[FeedbackStatus, int]:
        """Give the number of pieces by each end; it takes longer the more there are."""

    async def undecided(self) -> Undecided:
        """Give what waits for a person. Cheap, as `waiting` is."""


class Agents(Protocol):
    """The agents that learn, and their lists of skills."""

    async def get(self, agent_id: str) -> Agent:
        """Give one agent. Raises NotFound."""

    async def list(self, tenant_id: str | None = None) -> Sequence[Agent]:
        """Give all agents (of a tenant), by id."""

    async def save(self, agent: Agent) -> bool:
        """Create or change an agent; True where it is new. Raises InvalidInput on another tenant.

        The list of skills is set only where the agent is new.
        """

    async def awaiting_setup(self, limit: int) -> Sequence[Agent]:
        """Give agents with a goal that are to be set up since they are new, by id."""

    async def setup_begun(self, agent_id: str) -> None:
        """Note that an agent waits no more; repeating it is fine."""
