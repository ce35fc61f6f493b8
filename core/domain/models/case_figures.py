"""Cases in figures: how many hold, what the gate stopped week by week, which rows none decides."""

from __future__ import annotations

from datetime import date

from core.domain.models.base import Model, Page
from core.domain.models.cases import Case, CaseCounts, CaseResult


class CaseWeek(Model):
    """One week in UTC, which begins on a Monday.

    `applied` counts changes that came through, `proved` those of them with a proof; `refused` those
    that went back to the model because of a case, `held` those that wait, or waited, for a person
    because of one. `red` counts cases that have failed since that week.
    """

    week: date
    applied: int = 0
    proved: int = 0
    refused: int = 0
    held: int = 0
    red: int = 0


class CasesOverview(Model):
    """The cases of a tenant or of all by status, and the last weeks, oldest first."""

    tenant_id: str | None
    counts: CaseCounts
    weeks: tuple[CaseWeek, ...]


class Coverage(Model):
    """The rows of a decision table that no case decides by; `uncovered` are numbers from 1."""

    tenant_id: str
    item_id: str
    item_name: str
    rows: int
    uncovered: tuple[int, ...] = ()


class CasePage(Page[Case]):
    """A page of cases, and the coverage of the tables among their items."""

    coverage: tuple[Coverage, ...] = ()


class CasesRun(Model):
    """How cases ended that were run now; `more` if there are others that were not."""

    results: tuple[CaseResult, ...]
    more: bool = False

    @property
    def has_failed(self) -> bool:
        """Whether one of them fails."""
        return any(result.passed is False for result in self.results)
