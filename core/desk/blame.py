"""Who brought each unit of a text: lines or rows, followed through its states (pure)."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Sequence
from typing import NamedTuple

from core.desk.sheet.alignment import Effort, align

Units = tuple[str, ...]


class State(NamedTuple):
    """A text as it stood, in units; None where it was absent.

    `by` is who brought what is new in it. `takes_back`: where a text before said exactly this, it
    is that one again, with who brought it.
    """

    units: Units | None
    by: int
    takes_back: bool = False


def blame(states: Sequence[State], *, in_order: bool) -> list[int]:
    """Give who brought each unit of the last state, of states that came one after another.

    Units `in_order` are lines, that belong together by where they stand; others, as rows with
    names, stay who they are wherever they are moved.
    """
    units: Units = ()
    owners: list[int] = []
    stood: dict[Units, list[int]] = {}
    for state in states:
        if state.units is None:
            units, owners = (), []
            continue
        known = stood.get(state.units) if state.takes_back else None
        if known is None:
            carried = _carried_in_order if in_order else _carried
            known = carried(units, owners, state.units, state.by)
        units, owners = state.units, known
        stood[units] = owners
    return owners


def _carried_in_order(old: Units, owners: Sequence[int], new: Units, by: int) -> list[int]:
    """Carry owners over along the order; in what was rewritten, to lines that stood there too."""
    found: list[int] = []
    for same, start, end, to_start, to_end in align(old, new, Effort()):
        if same:
            found += owners[start:end]
        else:
            found += _carried(old[start:end], owners[start:end], new[to_start:to_end], by)
    return found


def _carried(old: Units, owners: Sequence[int], new: Units, by: int) -> list[int]:
    """Carry owners over to units that stood anywhere before, as often as they did."""
    free: defaultdict[str, deque[int]] = defaultdict(deque)
    for unit, owner in zip(old, owners, strict=True):
        free[unit].append(owner)
    return [free[unit].popleft() if free[unit] else by for unit in new]
