"""Room that several texts share: the short ones whole, the long ones cut alike (pure)."""

from __future__ import annotations

from collections.abc import Sequence


def fair_shares(wanted: Sequence[int], room: int) -> list[int]:
    """Give each what it wants where that fits into `room`, else none more than an equal share.

    What the short ones leave goes to the long ones (max-min fairness).
    """
    shares = [0] * len(wanted)
    left = max(room, 0)
    for place, index in enumerate(sorted(range(len(wanted)), key=lambda index: wanted[index])):
        shares[index] = min(wanted[index], left // (len(wanted) - place))
        left -= shares[index]
    return shares
