"""Where it is put on record which items reached an agent, and what came of it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import date, datetime, timedelta
from typing import Protocol

from core.domain.models.effect import (
    Complaint,
    EffectCounts,
    EffectDay,
    EffectFilter,
    EndedPiece,
    ItemEffect,
    Lesson,
    Proposal,
)
from core.domain.models.knowledge import Kind
from core.domain.models.uses import Arm, OutcomeReport, Use, UseCount


class Uses(Protocol):
    """The record of uses. It is written in batches, off the path of whoever asks."""

    def note(self, uses: Sequence[Use]) -> None:
        """Put uses on record soon: returns at once, and never raises."""

    async def left_out(
        self, tenant_id: str, agent_id: str, matched: Sequence[str], at: datetime
    ) -> Collection[str]:
        """Return which of the items that match a task are left out of it, to see what they do.

        The same for all that the agent asks until it reports an outcome. Empty, at once, unless one
        of the items is on trial. Never raises.
        """

    async def report(self, outcome: OutcomeReport) -> Sequence[str]:
        """Put an outcome on record; return the items that had been left out of the task."""

    async def flush(self) -> None:
        """Put on record now what was noted."""


class NoUses:
    """The port `Uses` where nothing is put on record."""

    def note(self, uses: Sequence[Use]) -> None:
        """Do nothing."""

    async def left_out(
        self, tenant_id: str, agent_id: str, matched: Sequence[str], at: datetime
    ) -> Collection[str]:
        """Leave nothing out."""
        del tenant_id, agent_id, matched, at
        return ()

    async def report(self, outcome: OutcomeReport) -> Sequence[str]:
        """Do nothing."""
        del outcome
        return ()

    async def flush(self) -> None:
        """Do nothing."""


class UseLog(Protocol):
    """Uses, arms and outcomes as stored."""

    async def add(self, counts: Sequence[UseCount]) -> None:
        """Add counters to those stored."""

    async def draw(self, arms: Sequence[Arm], since: datetime) -> Sequence[str]:
        """Open these arms, of one agent; return the items that are left out.

        Of an item whose arm is open since then or later, that arm stands.
        """

    async def add_outcome(self, outcome: OutcomeReport, since: datetime) -> Sequence[str]:
        """Store an outcome, which ends the agent's open arms since then; return what was left out.

        Items that are named twice count once.
        """


class Effects(Protocol):
    """What can be read of the effect of items."""

    async def items(
        self, wanted: EffectFilter, *, after: tuple[str, str, str, str] | None, limit: int
    ) -> Sequence[ItemEffect]:
        """Return items by tenant, agent, kind and id, after those four.

        With HELPS and HARMS those with enough tasks to tell; the caller looks at the judgement.
        """

    async def counts(self, wanted: EffectFilter) -> EffectCounts:
        """Return how many items there are."""

    async def days(
        self, wanted: EffectFilter, *, until: datetime, days: int
    ) -> Sequence[EffectDay]:
        """Return so many days up to one, oldest first, also those without any use."""

    async def proposals(self, wanted: EffectFilter, *, limit: int) -> Sequence[Proposal]:
        """Return the proposals that wait, oldest first."""

    async def proposal(self, proposal_id: str) -> Proposal:
        """Return a proposal. Raises NotFound."""

    async def decide(self, proposal: Proposal) -> bool:
        """Store a decision about one that waits; False if it does not wait any more."""


class LookBack(Protocol):
    """What is needed to see which complaints came back, and to propose what to do."""

    async def ended(self, now: datetime, *, limit: int) -> Sequence[EndedPiece]:
        """Return feedback that ended since it was last looked at, in the order of its end."""

    async def looked(self, until: datetime, found: Sequence[Complaint]) -> None:
        """Store what was found in all that ended until then; it is not looked at again."""

    async def lessons(
        self, tenant_id: str, agent_id: str, items: Sequence[tuple[Kind, str]]
    ) -> Sequence[Lesson]:
        """Return what taught these items to the agent, and when they reached it first."""

    async def taught_by(self, feedback_id: str, agent_id: str) -> Sequence[Lesson]:
        """Return the items that a piece of feedback created for an agent, as lessons."""

    async def earlier(
        self, piece: EndedPiece, agent_id: str, *, within: timedelta, limit: int
    ) -> Sequence[EndedPiece]:
        """Return what was said to an agent before a piece, the latest first."""

    async def propose(self, now: datetime, *, unused_days: int, recurring: int) -> int:
        """Write the proposals that are due, and return how many."""

    async def fold(self, before: date, *, limit: int) -> int:
        """Add up counters of days before that, at most so many; return how many there were.

        What was added up stays a counter of its item, version and way, of no day.
        """
