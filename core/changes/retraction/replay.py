"""Replay the history of a target without some of its changes (pure but for reading blobs)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from core.changes.problems import problem
from core.changes.steps import Step, is_whole
from core.changes.three_way_merge import Clash, State, rebased, without_rows
from core.decision_table import parse_xml
from core.domain.hashing import memory_name
from core.domain.messages import Message
from core.domain.models import (
    Change,
    ChangeStatus,
    Kind,
    Snapshot,
)


def followed(steps: Sequence[Step], now: Snapshot | None) -> list[Step]:
    """Return the steps up to the current list of skills, which skill changes also alter."""
    last = steps[-1]
    current = None if now is None else State(now.content, now.name)
    if current == last.after:
        return [*steps]
    return [*steps, Step(last.change, last.after, current, is_ours=False)]


def undone(chain: Sequence[Change]) -> frozenset[str]:
    """Return the ids of the changes that were undone, and of those that undid them.

    The pair cancels out: the target is as if neither had been made.
    """
    return frozenset(c.id for c in chain if c.status is ChangeStatus.REVERTED or c.undoes)


def ground(kind: Kind, created: State) -> State | None:
    """Return the base of later changes once the creation is retracted: a table without rows."""
    if kind is not Kind.DMN_RULE:
        return None
    return replace(created, text=without_rows(created.text))


def is_nothing(kind: Kind, state: State) -> bool:
    """Whether nothing learnt is left."""
    if kind is Kind.DMN_RULE:
        return not parse_xml(state.text).rows
    return kind is Kind.MEMORY and not state.text.strip()


def named(kind: Kind, state: State) -> State:
    """Return a state named after its text."""
    if kind is Kind.MEMORY:
        return replace(state, name=memory_name(state.text))
    if kind is Kind.DMN_RULE:
        return replace(state, name=parse_xml(state.text).name)
    return state


@dataclass(frozen=True)
class Standing:
    """A later change that depends on what is retracted, and why."""

    change: Change
    why: str


def without(
    kind: Kind, steps: Sequence[Step], taken_back: Callable[[Change], bool]
) -> State | Standing | None:
    """Replay the steps, oldest first, without the retracted ones.

    Returns the resulting state (None for absent), or the first step that cannot be replayed.
    """
    state = steps[0].before
    for step in steps:
        if step.is_ours and taken_back(step.change):
            if state is None and step.after is not None:
                state = ground(kind, step.after)
            continue
        if state == step.before:
            state = step.after
            continue
        try:
            state = _replayed(kind, step, state)
        except Clash:
            return Standing(step.change, Message("retract.rewrites"))
        if state is not None and (wrong := problem(kind, state, step.after)):
            return Standing(step.change, Message("retract.without", why=wrong))
    return None if state is None or is_nothing(kind, state) else named(kind, state)


def _replayed(kind: Kind, step: Step, state: State | None) -> State | None:
    if is_whole(step):
        return step.after
    assert step.before is not None
    assert step.after is not None
    if state is None:
        state = State(
            "",
            step.before.name,
            None if step.before.files is None else {},
            reach=step.before.reach,
        )
    return rebased(kind, step.before, step.after, state)
