"""Which held changes reviewers have open, so that the queue offers others to their colleagues.

It lives in one process and decides nothing: of two decisions on one change the gate accepts one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

FORGOTTEN_SECONDS = 60.0


class Presence:
    """The changes each reviewer has open and would open next; they expire after a minute."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._open: dict[str, tuple[float, frozenset[str]]] = {}

    def note(self, who: str, change_ids: Collection[str]) -> None:
        """Replace what a reviewer has open."""
        old = self._clock() - FORGOTTEN_SECONDS
        self._open = {other: known for other, known in self._open.items() if known[0] > old}
        self._open[who] = self._clock(), frozenset(change_ids)

    def by_others(self, who: str) -> frozenset[str]:
        """Return what all other reviewers have open."""
        old = self._clock() - FORGOTTEN_SECONDS
        known = (ids for other, (at, ids) in self._open.items() if other != who and at > old)
        return frozenset().union(*known)
