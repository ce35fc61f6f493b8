"""What a target would hold had some of its changes never been made (pure)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from core.models import Change, Kind, MergeMode, Relationship
from core.rebasing.edits import rebased
from core.rebasing.sequences import Clash
from core.rebasing.states import State
from core.retraction.kinds import ground, is_nothing, named, problem
from core.retraction.states import Step


@dataclass(frozen=True)
class Standing:
    """A later change that cannot be kept without what is taken back, and why."""

    change: Change
    why: str


def without(
    kind: Kind, steps: Sequence[Step], taken_back: Callable[[Change], bool]
) -> State | Standing | None:
    """Do the steps over, oldest first, but for those that are taken back.

    Gives the state they lead to, None for absent, or the first step that cannot be done over.
    """
    state = steps[0].before
    for step in steps:
        if step.is_ours and taken_back(step.change):
            if state is None and step.before is None and step.after is not None:
                state = ground(kind, step.after)
            continue
        if state == step.before:
            state = step.after
            continue
        try:
            state = _done_over(kind, step, state)
        except Clash:
            return Standing(step.change, "it rewrites what is taken back")
        if state is not None and (wrong := problem(kind, state, step.after)):
            return Standing(step.change, f"without what is taken back, {wrong}")
    return None if state is None or is_nothing(kind, state) else named(kind, state)


def _done_over(kind: Kind, step: Step, state: State | None) -> State | None:
    if _is_whole(step):
        return step.after
    assert step.before is not None
    assert step.after is not None
    if state is None:
        state = State("", step.before.name, None if step.before.files is None else {})
    return rebased(kind, step.before, step.after, state)


def _is_whole(step: Step) -> bool:
    """Tell whether a change leads to its state from any other: it made, ended or replaced all."""
    change = step.change
    if step.before is None or step.after is None:
        return True
    if not step.is_ours:
        return False
    if change.merge_mode is None:
        is_memory = change.kind is Kind.MEMORY
        return is_memory and change.relationship is Relationship.SUPERSEDES
    return change.merge_mode is MergeMode.REPLACE
