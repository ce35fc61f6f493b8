"""The changes of a target as steps with all their bytes."""

from __future__ import annotations

from collections.abc import Sequence

from core.gate.stored import StoredStates
from core.models import Change, ChangeStatus, Snapshot
from core.ports import ChangeLog
from core.rebasing.states import State
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


def followed(steps: Sequence[Step], now: Snapshot | None) -> list[Step]:
    """Give the steps up to what a list of skills is now: skills that come and go change it too."""
    last = steps[-1]
    current = None if now is None else State(now.content, now.name)
    if current == last.after:
        return [*steps]
    return [*steps, Step(last.change, last.after, current, is_ours=False)]


def undone(chain: Sequence[Change]) -> frozenset[str]:
    """Give the ids of the changes that were taken back since, and of all that ever did that.

    The target is as if neither had been made: what was taken back and came back is applied again.
    """
    return frozenset(c.id for c in chain if c.status is ChangeStatus.REVERTED or c.undoes)
