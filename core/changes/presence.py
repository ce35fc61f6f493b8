"""Which waiting changes people look at just now, so that nobody else is sent to the same ones.

It is known to one process only and decides nothing: where two decide about one change, the gate
lets one of them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

FORGOTTEN_SECONDS = 60.0


class Presence:
    """What each reviewer has open, and would open next; forgotten after a minute."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._open: dict[str, tuple[float, frozenset[str]]] = {}

    def note(self, who: str, change_ids: Collection[str]) -> None:
        """Note what somebody has open now, in the place of what they had."""
        old = self._clock() - FORGOTTEN_SECONDS
        self._open = {other: known for other, known in self._open.items() if known[0] > old}
        self._open[who] = self._clock(), frozenset(change_ids)

    def by_others(self, who: str) -> frozenset[str]:
        """Give what all others have open."""
        old = self._clock() - FORGOTTEN_SECONDS
        known = (ids for other, (at, ids) in self._open.items() if other != who and at > old)
        return frozenset().union(*known)
