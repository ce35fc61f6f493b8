"""What the rooms of the change gate work with."""

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
    TargetLocks,
)


@dataclass(frozen=True)
class GateDeps:
    """`targets` and `reviews` are other faces of the change log.

    In a dry run every change stops once it is prepared, and leaves no trace.
    """

    committers: Mapping[Kind, Committer]
    changes: ChangeLog
    target_locks: TargetLocks
    reviews: Reviews
    duplicate_waiters: DuplicateWaiters
    journal: Journal
    new_id: NewId
    sleep: Sleep
    policy: Policy = apply_all
    dry_run: bool = False
