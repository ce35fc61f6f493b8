"""Whether a write came through late, as a worker sees that has lost its work to another."""

from __future__ import annotations

import structlog

from core.errors import SkillWorkerError
from core.gate.records import event
from core.models import Change, ChangeStatus, Kind
from core.ports import Committer, Journal, Targets
from core.snapshots import state_hash

log = structlog.get_logger(__name__)


async def look_back(
    change: Change, committer: Committer, targets: Targets, journal: Journal
) -> None:
    """Put on record where the target's store holds something else than was recorded last."""
    try:
        if await _has_diverged(change, committer, targets):
            await journal.emit(event("change.diverged", change))
    except SkillWorkerError as error:
        log.warning("change.unseen", change_id=change.id, error=error.message)


async def _has_diverged(change: Change, committer: Committer, targets: Targets) -> bool:
    """Compare. Only a skill lives in a store that may have let a late write through.

    While a change of it is being applied, whoever applies that one finds out.
    """
    if change.kind is not Kind.SKILL:
        return False
    latest = await targets.latest(change)
    if latest is None or latest.status is ChangeStatus.APPLYING:
        return False
    current = await committer.current(change.tenant_id, change.target_id)
    return state_hash(current) != state_hash(latest.after)
