"""Dependencies of the change gate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

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


@dataclass(frozen=True)
class GateDeps:
    """`target_locks` and `reviews` are further ports onto the tables of the change log.

    In a dry run every change stops after its preparation and leaves no trace.
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
