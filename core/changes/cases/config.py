"""The section `cases:` of `skill-worker.yaml`: whether cases are run, and what they decide."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from core.domain.models.base import Model

OFF, ON = "off", "on"
APPLY, HOLD = "apply", "hold"


def _switched(value: object) -> object:
    return {True: ON, False: OFF}[value] if isinstance(value, bool) else value  # YAML's bare `on`


class BehaviourRules(Model):
    """What cases of behaviour may cost: `runs` answers of the model for the cases of one change.

    As many more are asked for on the state before, to tell what the change has done.
    """

    runs: int = Field(default=0, ge=0, le=100)


class CaseRules(Model):
    """Whether the gate runs cases, and what becomes of a change that no case proves.

    With `gate: off` cases are kept and run at night, and stop nothing.
    """

    behaviour: BehaviourRules = BehaviourRules()
    gate: Annotated[Literal["on", "off"], BeforeValidator(_switched)] = "on"
    unproved: Literal["apply", "hold"] = "apply"


DEFAULT = CaseRules()
