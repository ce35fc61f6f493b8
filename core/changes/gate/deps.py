"""Dependencies of the change gate."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from core.changes.cases.judging import CaseGate
from core.changes.gate.screening import Screen
from core.changes.outside import OutsideChanges
from core.changes.policy.review_policy import Denies, Policy, apply_all, deny_nothing
from core.domain.models import Change, Kind, Origin
from core.domain.ports import (
    BeforeApplied,
    ChangeLog,
    Committer,
    DuplicateWaiters,
    Journal,
    NewId,
    Reviews,
    Sleep,
    Steps,
    TargetLocks,
)

Foresee = Callable[[Change], None]


class AskAgain(Protocol):
    """Has a worker's model decide about feedback once more, since what is known has changed."""

    async def again(self, feedback_id: str) -> None:
        """Queue a piece of feedback again. Raises Refused if it is at work."""

    async def passed_over(self, feedback_id: str) -> None:
        """Queue what was said after a piece and found nothing to do without what it taught."""


@dataclass(frozen=True)
class GateDeps:
    """`target_locks` and `reviews` are further ports onto the tables of the change log.

    In a dry run every change stops after its preparation and leaves no trace; `foresee` is told
    what an import would write, with which its next lines are compared. `ask_again` is None where no
    model is set. Without `outside` nobody looks for what others made of skills. Without `screen`
    nothing is looked for in what changes add. `before_applied` is asked before a change is applied.
    Without `cases` none is kept or run.
    """

    committers: Mapping[Kind, Committer]
    changes: ChangeLog
    target_locks: TargetLocks
    reviews: Reviews
    steps: Steps
    duplicate_waiters: DuplicateWaiters
    journal: Journal
    new_id: NewId
    sleep: Sleep
    policy: Policy = apply_all
    denies: Denies = deny_nothing
    dry_run: bool = False
    foresee: Foresee | None = None
    ask_again: AskAgain | None = None
    outside: OutsideChanges | None = None
    screen: Screen | None = None
    before_applied: BeforeApplied | None = None
    cases: CaseGate | None = None

    def would_write(self, change: Change) -> None:
        """Tell of a change that a dry run would apply, if it is part of an import."""
        if self.foresee is not None and change.origin is Origin.IMPORT and not change.held:
            self.foresee(change)
