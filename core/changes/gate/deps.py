"""Dependencies of the change gate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from core.changes.cases.judging import CaseGate
from core.changes.outside import OutsideChanges
from core.changes.policy.review_policy import Denies, Policy, apply_all, deny_nothing
from core.domain.models import Change, ChangeRequest, Finding, Kind
from core.domain.ports import (
    BeforeApplied,
    ChangeLog,
    Committer,
    DuplicateWaiters,
    Journal,
    NewId,
    Reviews,
    ScreenRecords,
    Sleep,
    Steps,
    TargetLocks,
)
from core.safety.config import DEFAULT, ScreenConfig


class AskAgain(Protocol):
    """Has a worker's model decide about feedback once more, since what is known has changed."""

    async def again(self, feedback_id: str) -> None:
        """Queue a piece of feedback again. Raises Refused if it is at work."""

    async def passed_over(self, feedback_id: str) -> None:
        """Queue what was said after a piece and found nothing to do without what it taught."""


class Look(Protocol):
    """Looks at what a change adds, beside the screen: a model, or screens of plug-ins."""

    async def __call__(
        self, change: Change, added: Mapping[str, tuple[str, str]]
    ) -> Sequence[Finding]:
        """Return what it finds, by place: (text before, text after). A failure is a finding."""


class MaskMore(Protocol):
    """Takes more out of a request before anything of it is stored."""

    async def __call__(self, request: ChangeRequest, /) -> ChangeRequest:
        """Return the request without it; a failure is told when the change is looked at."""


@dataclass(frozen=True)
class Screen:
    """How what changes add is screened: the settings, what is on record, and who looks besides.

    Without `holds` findings are only told. With `keeps_raw` secrets stay where a person or a model
    writes them. `looks` and `mask_more` are those of plug-ins: the second takes out of a request
    what must not be stored. `asks_author`: the policy has a rule about authors of whom nothing was
    accepted.
    """

    records: ScreenRecords
    config: ScreenConfig = DEFAULT
    holds: bool = True
    keeps_raw: bool = False
    looks: Sequence[Look] = ()
    mask_more: MaskMore | None = None
    second_look: Look | None = None
    asks_author: bool = False

    @property
    def all_looks(self) -> Sequence[Look]:
        """Who looks at a change besides the rules."""
        return self.looks if self.second_look is None else (*self.looks, self.second_look)


@dataclass(frozen=True)
class GateDeps:
    """`target_locks` and `reviews` are further ports onto the tables of the change log.

    In a dry run every change stops after its preparation and leaves no trace. `ask_again` is None
    where no model is set. Without `outside` nobody looks for what others made of skills.
    Without `screen` nothing is looked for in what changes add. `before_applied` is asked before a
    change is applied. Without `cases` none is kept or run.
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
    ask_again: AskAgain | None = None
    outside: OutsideChanges | None = None
    screen: Screen | None = None
    before_applied: BeforeApplied | None = None
    cases: CaseGate | None = None
