"""Replay the history of a target without some of its changes (pure but for reading blobs)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from core.changes.gate.records import StoredStates
from core.changes.three_way_merge import Clash, State, rebased, without_rows
from core.decision_table import parse_xml
from core.decision_table.learning.introduced import introduced
from core.domain.errors import RuleInvalid
from core.domain.hashing import memory_name
from core.domain.messages import Message, joined
from core.domain.models import (
    SKILL_MD,
    Bundle,
    Change,
    ChangeStatus,
    Kind,
    MergeMode,
    Relationship,
    Severity,
    SkillFile,
    Snapshot,
)
from core.domain.ports import ChangeLog
from core.skill_quick_validate import check_bundle, errors_of


@dataclass(frozen=True)
class Step:
    """One step in the history of a target; a state of None is absent.

    With `is_ours` false it is an outside edit, made before our `change` came.
    """

    change: Change
    before: State | None
    after: State | None
    is_ours: bool = True


async def read_steps(chain: Sequence[Change], changes: ChangeLog) -> list[Step]:
    """Return the steps of a chain, outside edits included.

    An outside edit carries the change that followed it.
    """
    stored = StoredStates(changes)
    made: list[Step] = []
    for change in chain:
        before, after = await stored.read(change.before), await stored.read(change.after)
        if made and made[-1].after != before:
            made.append(Step(change, made[-1].after, before, is_ours=False))
        made.append(Step(change, before, after))
    return made


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


def problem(kind: Kind, state: State, known: State | None) -> str:
    """Return the problems of a state that a known one did not have, "" if none."""
    if kind is Kind.DMN_RULE:
        return _rule_problem(state, known)
    if kind is Kind.SKILL:
        new = set(_skill_problems(state)) - set(_skill_problems(known) if known else ())
        return joined(sorted(new))
    return ""


def _rule_problem(state: State, known: State | None) -> str:
    try:
        table = parse_xml(state.text)
        before = parse_xml(known.text) if known else None
    except RuleInvalid as error:
        return Message("retract.unreadable", why=error.message)
    ids = {row.id: row.id for row in before.rows} if before else {}
    found = introduced(before, table, ids)
    return joined(d.message for d in found if d.severity is Severity.ERROR)


def _skill_problems(state: State) -> Sequence[str]:
    document = SkillFile(data=state.text.encode(), executable=state.runs)
    bundle = Bundle(name=state.name, files={**(state.files or {}), SKILL_MD: document})
    return [problem.message for problem in errors_of(check_bundle(bundle))]


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
    if _is_whole(step):
        return step.after
    assert step.before is not None
    assert step.after is not None
    if state is None:
        state = State("", step.before.name, None if step.before.files is None else {})
    return rebased(kind, step.before, step.after, state)


def _is_whole(step: Step) -> bool:
    """Whether a step fixes its state whatever came before: it created, deleted or replaced all."""
    change = step.change
    if step.before is None or step.after is None:
        return True
    if not step.is_ours:
        return False
    if change.merge_mode is None:
        is_memory = change.kind is Kind.MEMORY
        return is_memory and change.relationship is Relationship.SUPERSEDES
    return change.merge_mode is MergeMode.REPLACE
