"""Incoming feedback: sources, the inbox, and the agents it is for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from pydantic import JsonValue

from core.domain.models import (
    Agent,
    Feedback,
    FeedbackStatus,
    Fetched,
    MaskedFeedback,
    NewFeedback,
    Outcome,
    Outline,
    Pause,
    Undecided,
    Waiting,
)
from core.domain.models.deliveries import DeliveryStatus
from core.domain.models.recorded_runs import Fork


class FeedbackSource(Protocol):
    """Where feedback is fetched from, and which is told how it ended."""

    @property
    def name(self) -> str:
        """The source's name, part of each piece's identity."""

    async def fetch(self, limit: int) -> Fetched:
        """Return what is not yet acknowledged, oldest first, from about `limit` records.

        Feedback may be returned repeatedly until it is acknowledged, whichever worker took it; each
        piece has an `id`. Raises ConfigurationError, DependencyDown.
        """

    async def accept(self, pieces: Sequence[NewFeedback]) -> None:
        """Notify the source that these are stored here. Idempotent."""

    async def acknowledge(self, source_id: str, outcome: Outcome) -> None:
        """Notify the source how a piece ended. Idempotent; a record that is gone is fine.

        Raises ConfigurationError, DependencyDown.
        """

    async def ping(self) -> None:
        """Check that the source answers. Raises ConfigurationError, DependencyDown."""


class OpenSource(Protocol):
    """What an entry point of the group `skill_worker.sources` names: it opens a source.

    `given` is the section of `skill-worker.yaml` with the entry point's name; `known` says which
    ids are stored. Raises ConfigurationError.
    """

    def __call__(
        self, given: Mapping[str, JsonValue], known: Deliveries, /
    ) -> AbstractAsyncContextManager[FeedbackSource]:
        """Open the source."""


class Deliveries(Protocol):
    """What outside sources delivered, and which ends they have yet to be told."""

    async def known(self, source: str, source_ids: Sequence[str]) -> Mapping[str, FeedbackStatus]:
        """Return those of a source's ids that are stored, with the status of each."""

    async def unacknowledged(self, source: str, limit: int) -> Sequence[Feedback]:
        """Return ended pieces whose source does not know it yet, longest ended first."""

    async def acknowledged(self, ended: Feedback) -> None:
        """Note that the source knows this end; no effect if the piece was revived since."""


class Inbox(Protocol):
    """Stored feedback, and the one job that each piece has."""

    async def masked(self, piece: NewFeedback) -> MaskedFeedback:
        """Return a piece as `add` would store it, without secrets and numbers of persons.

        Raises InvalidInput where one is the name of something, ScreenDown where a screen of a
        plug-in could not look.
        """

    async def add(self, source: str, pieces: Sequence[NewFeedback]) -> Sequence[tuple[str, bool]]:
        """Store pieces and defer a job for each new one, in one transaction.

        Returns (feedback id, whether it is new) for each. Raises InvalidInput if a known (source,
        id) comes again with other content.
        """

    async def add_first(self, source: str, piece: NewFeedback, agent: Agent) -> bool:
        """Store the first feedback of an agent that awaits setup, and note that it no longer does.

        Both in one transaction. True if the piece is new; nothing happens if the agent no longer
        awaits setup, or has changed since it was read.
        """

    async def get(self, feedback_id: str) -> Feedback:
        """Return one piece. Raises NotFound."""

    async def claim(self, feedback_id: str) -> Feedback | None:
        """Start an attempt: `processing`, attempts + 1, epoch + 1. None if it has ended."""

    async def earlier(self, claimed: Feedback, limit: int) -> Sequence[Outline]:
        """Return what was said before it to any of its agents and is not finished, latest first.

        Without what waits for a retry: that may take long, and is taken in its order then too.
        """

    async def passed_over(self, claimed: Feedback, limit: int) -> Sequence[Outline]:
        """Return what was said after it to any of its agents and found nothing to do.

        What answers it comes first, for whatever reason it came to nothing; then, in the order of
        saying, the others, without what is noise or meant for one case whatever is known.
        """

    async def wait_for(self, claimed: Feedback, earlier_id: str) -> bool:
        """Queue it again, with its attempt subtracted, until an earlier piece ends or is retried.

        False, changing nothing, if that piece is finished or waits for a retry by now. Raises
        LeaseLost if it has ended or was claimed again since.
        """

    async def give_back(
        self, claimed: Feedback, error: str, delay: float, *, counts: bool = True
    ) -> None:
        """Queue it again in `delay` seconds, in one transaction with its new job.

        An attempt that does not count is subtracted again. Raises LeaseLost, changing nothing, if
        the piece has ended or was claimed again since.
        """

    async def finish(self, claimed: Feedback, outcome: Outcome) -> None:
        """Record the end of a piece and everything spent on it, over all generations.

        Raises LeaseLost, changing nothing, if it has ended or was claimed again since.
        """


class Intake(Protocol):
    """What people may do to the queue: revive a piece, cancel one, pause everything."""

    async def revive(self, feedback_id: str, *, fork: Fork | None = None) -> Feedback:
        """Queue an ended piece again under the next generation. Raises NotFound, Refused.

        With `fork` one of its runs takes its first steps from an earlier one.
        """

    async def cancel(self, feedback_id: str, reason: str) -> Feedback:
        """End a piece as `cancelled`; the worker that has it is fenced off.

        Raises NotFound; Refused if it has ended.
        """

    async def pause(self, reason: str) -> Pause:
        """Stop all workers from starting anything new.

        A second pause keeps the time of the first, and its reason unless a new one is given.
        """

    async def resume(self) -> bool:
        """Let workers start work again; whether they were paused."""

    async def paused(self) -> Pause | None:
        """Return the pause, or None."""


class Backlog(Protocol):
    """Figures of the whole queue, for monitoring."""

    async def waiting(self) -> Waiting:
        """Return what has not ended. Cheap: proportional to what waits, not to all of it."""

    async def ended(self) -> Mapping[FeedbackStatus, int]:
        """Return the number of pieces by final status; proportional to their number."""

    async def undecided(self) -> Undecided:
        """Return what waits for a person. Cheap, as `waiting` is."""

    async def going_out(self) -> Mapping[tuple[str, DeliveryStatus], int]:
        """Return the number of deliveries that are kept, by target and status."""


class Agents(Protocol):
    """The agents that learn, and their lists of skills."""

    async def get(self, tenant_id: str, agent_id: str) -> Agent:
        """Return one agent of a tenant. Raises NotFound; InvalidInput for the worker's own id."""

    async def of_id(self, agent_id: str) -> Sequence[Agent]:
        """Return the agents that have an id, one a tenant, by tenant.

        Raises InvalidInput for the worker's own id, as `save` does.
        """

    async def having(self, tenant_id: str, skill: str) -> Sequence[Agent]:
        """Return the agents of a tenant whose lists have a skill, by id."""

    async def list(self, tenant_id: str | None = None) -> Sequence[Agent]:
        """Return all agents (of a tenant), by id and tenant."""

    async def save(self, agent: Agent) -> bool:
        """Create or change the tenant's agent of that id; whether it is new.

        The list of skills is set only for a new agent.
        """

    async def awaiting_setup(self, limit: int) -> Sequence[Agent]:
        """Return new agents with a goal that have not been set up yet, by id and tenant."""

    async def setup_begun(self, tenant_id: str, agent_id: str) -> None:
        """Note that an agent no longer awaits setup. Idempotent."""
