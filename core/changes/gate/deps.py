"""Dependencies of the change gate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from core.changes.policy.review_policy import Policy, apply_all
from core.domain.models import Kind
from core.domain.ports import (
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


class AskAgain(Protocol):
    """Has a worker's model decide about feedback once more, since what is known has changed."""

    async def again(self, feedback_id: str) -> None:
        """Queue a piece of feedback again. Raises Refused if it is at work."""

    async def passed_over(self, feedback_id: str) -> None:
        """Queue what was said after a piece and found nothing to do without what it taught."""


@dataclass(frozen=True)
class GateDeps:
    """`target_locks` and `reviews` are further ports onto the tables of the change log.

    In a dry run every change stops after its preparation and leaves no trace. `ask_again` is None
    where no model is set.
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
    dry_run: bool = False
    ask_again: AskAgain | None = None
