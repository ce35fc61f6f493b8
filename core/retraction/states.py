"""The changes that led from one state of a target to the next."""

from __future__ import annotations

from dataclasses import dataclass

from core.models import Change
from core.rebasing.states import State


@dataclass(frozen=True)
class Step:
    """One change that was made: from where, into what. None is absent.

    What others did past us, before our `change` came, is no step of ours.
    """

    change: Change
    before: State | None
    after: State | None
    is_ours: bool = True
