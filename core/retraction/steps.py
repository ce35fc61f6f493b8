"""The changes of a target as steps with all their bytes."""

from __future__ import annotations

from collections.abc import Sequence

from core.gate.stored import StoredStates
from core.models import Change, ChangeStatus
from core.ports import ChangeLog
from core.retraction.states import Step


async def read_steps(chain: Sequence[Change], changes: ChangeLog) -> list[Step]:
    """Give changes with the states before and after them, and what others changed in between.

    For that the change that came next is named.
    """
    stored = StoredStates(changes)
    made: list[Step] = []
    for change in chain:
        before, after = await stored.read(change.before), await stored.read(change.after)
        if made and made[-1].after != before:
            made.append(Step(change, made[-1].after, before, is_ours=False))
        made.append(Step(change, before, after))
    return made


def undone(chain: Sequence[Change]) -> frozenset[str]:
    """Give the ids of the changes that were taken back since, and of those that did that.

    The target is as if neither had been made. Of some that were taken back nothing was left to
    undo: no change names them.
    """
    named = {change_id for change in chain for change_id in _undoes(change)}
    gone = {c.id for c in chain if c.status is ChangeStatus.REVERTED and c.id not in named}
    for change in reversed(chain):
        if change.id not in gone and _undoes(change):
            gone |= {change.id, *_undoes(change)}
    return frozenset(gone)


def _undoes(change: Change) -> tuple[str, ...]:
    return (change.reverts,) if change.reverts is not None else change.retracts
