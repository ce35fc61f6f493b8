"""The section `effect` of `skill-worker.yaml`."""

from __future__ import annotations

from pydantic import Field

from core.domain.models.base import Model


class HoldoutRules(Model):
    """Which items are on trial: of the tasks that one matches, `share` do without it."""

    items: tuple[str, ...] = ()
    share: float = Field(default=0.5, gt=0, lt=1, allow_inf_nan=False)


class EffectRules(Model):
    """What is proposed when, and what is on trial.

    An item that reached nobody for `unused_days` is proposed to be archived; one after which
    `recurring` complaints came back, to be rewritten. Uses are told apart by day for `keep_days`,
    which the longest overview needs; older ones are one sum.
    """

    unused_days: int = Field(default=90, ge=1, le=36_500)
    recurring: int = Field(default=2, ge=1, le=1_000)
    keep_days: int = Field(default=400, ge=366, le=36_500)
    holdout: HoldoutRules = HoldoutRules()
