"""Which prepared changes go on to be applied (pure)."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum

from core.models import Change


class Decision(StrEnum):
    """What happens to a prepared change."""

    APPLY = "apply"
    STOP = "stop"


Policy = Callable[[Change], Decision]


def apply_all(change: Change) -> Decision:
    """Every change that no check refuses is applied."""
    del change
    return Decision.APPLY


def stop_all(change: Change) -> Decision:
    """A dry run: every change stops once it is prepared, and leaves no trace."""
    del change
    return Decision.STOP
