"""Cases: where they are kept, and how they are run on a state that would be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol

from core.domain.models import Change
from core.domain.models.case_figures import CaseWeek
from core.domain.models.cases import (
    BareItem,
    Case,
    CaseCounts,
    CaseFilter,
    CaseResult,
    CasesInReach,
    ItemKey,
)


class Cases(Protocol):
    """The cases on record. A case is live while its change is applied and its item is there."""

    async def page(
        self, wanted: CaseFilter, *, limit: int, cursor: str | None
    ) -> tuple[Sequence[Case], str | None]:
        """Return live cases, newest first, and the cursor of the next page."""

    async def get(self, case_id: str) -> Case:
        """Return a case. Raises NotFound."""

    async def reach(self, change: Change, limit: int) -> CasesInReach:
        """Return the live cases that a change may break, those of its own item first.

        Of the same item, of items that share its words, columns or surface, of skills that refer
        to it; disabled ones are left out.
        """

    async def seen(self, change: Change) -> tuple[int, ...]:
        """Return what the search knows of by now, where the agent of a change searches."""

    async def add(self, case: Case) -> None:
        """Add a case that a person made. Raises NotFound if its item is not there."""

    async def edit(self, case: Case) -> None:
        """Replace what a case asks; it is unproved again. Raises NotFound."""

    async def disable(self, case_id: str, *, by: str, reason: str) -> Case:
        """Disable a case for good, on record. Idempotent. Raises NotFound."""

    async def note(self, results: Sequence[CaseResult], *, by_change: str | None = None) -> None:
        """Note how cases ended; `since` moves only where the status changes."""

    async def counts(self, items: Sequence[ItemKey]) -> Mapping[ItemKey, CaseCounts]:
        """Return the counts of live cases by item; of an item without any there is none."""


class CaseRunner(Protocol):
    """Runs the cases that need no model."""

    async def before_and_after(
        self, change: Change, blobs: Mapping[str, bytes], cases: Sequence[Case]
    ) -> Sequence[tuple[bool | None, CaseResult]]:
        """Run cases on the state before a change (did it pass?) and on the state it would make.

        Nothing of it stays: what is written for it is rolled back.
        """

    async def now(self, cases: Sequence[Case]) -> Sequence[CaseResult]:
        """Run cases on what is known now."""


class CaseAnswers(Protocol):
    """A model that answers the tasks of cases. What is asked again for a change costs nothing."""

    async def answer(self, change: Change, task: str, knowledge: str, run: int) -> str:
        """Return the answer of an agent that knows this; each run has its own. Raises ModelDown."""

    async def judge(self, change: Change, statement: str, answer: str) -> bool:
        """Whether a statement holds of an answer. Raises ModelDown."""


class CaseUpkeep(Protocol):
    """What is done about cases beside the work."""

    async def bare(self, after: int, limit: int) -> Sequence[BareItem]:
        """Return items without any case that were written after a revision, in their order."""

    async def keep(self, cases: Sequence[Case]) -> None:
        """Store cases that were derived later; one that is there stays as it is."""

    async def is_due(self, every: float) -> bool:
        """Whether all are to be run: of all workers one is told so in so many seconds."""


class CaseFigures(Protocol):
    """Cases in figures, for people."""

    async def totals(self, wanted: CaseFilter) -> CaseCounts:
        """Return the counts of live cases; the status that is wanted does not matter."""

    async def weeks(self, wanted: CaseFilter, *, until: datetime, weeks: int) -> Sequence[CaseWeek]:
        """Return so many weeks in UTC, oldest first; of the filter tenant, agent and kind count."""
