"""Max-min fair division of a character budget among several texts (pure)."""

from __future__ import annotations

from collections.abc import Sequence


def fair_shares(wanted: Sequence[int], room: int) -> list[int]:
    """Return the share of each: what it wants if all fit into `room`, else at most a fair share.

    What short texts leave over goes to the long ones (max-min fairness).
    """
    shares = [0] * len(wanted)
    left = max(room, 0)
    for served, index in enumerate(sorted(range(len(wanted)), key=lambda index: wanted[index])):
        shares[index] = min(wanted[index], left // (len(wanted) - served))
        left -= shares[index]
    return shares
