"""How two changes that wait concern each other (pure)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from core.changes.merging import clashes
from core.decision_table import parse_xml
from core.domain.errors import RuleInvalid
from core.domain.hashing import name_key
from core.domain.messages import Message
from core.domain.models import (
    SKILL_MD,
    Bundle,
    Change,
    DecisionTable,
    Kind,
    SkillFile,
    Snapshot,
)
from core.knowledge.duplicates import Evidence, Known, evidence
from core.knowledge.duplicates.rules import beside, row_pairs
from core.knowledge.duplicates.skills import compare_skills


class Relation(StrEnum):
    """`touches`: both change one item; `resembles`: each would make one, about the same."""

    TOUCHES = "touches"
    RESEMBLES = "resembles"
    CONTRADICTS = "contradicts"


@dataclass(frozen=True)
class Relative:
    """A change that waits beside another; `why` says what the two have in common or not."""

    change: Change
    relation: Relation
    why: str = ""


_ORDER = (Relation.CONTRADICTS, Relation.TOUCHES, Relation.RESEMBLES)


def relatives(change: Change, waiting: list[Change]) -> list[Relative]:
    """Return those of the waiting changes that concern one, contradictions first."""
    found = [relative for other in waiting if (relative := relative_to(change, other))]
    return sorted(found, key=lambda one: _ORDER.index(one.relation))


def relative_to(change: Change, other: Change) -> Relative | None:
    """Return how another change concerns one, None if it does not."""
    is_same = (change.kind, change.target_id) == (other.kind, other.target_id)
    if change.kind is Kind.SKILL and other.kind is Kind.AGENT_SKILLS:
        is_listed = other.target_id == change.agent_id or _names(other) & {change.target_id}
        return Relative(other, Relation.TOUCHES) if is_listed else None
    if change.kind != other.kind or change.kind is Kind.AGENT_SKILLS:
        return Relative(other, Relation.TOUCHES) if is_same else None
    if change.after is None or other.after is None:
        return Relative(other, Relation.TOUCHES) if is_same else None
    is_near, differs, why = _COMPARED.get(change.kind, _texts)(change, other)
    if differs and is_near:
        return Relative(other, Relation.CONTRADICTS, differs)
    if is_same:
        return Relative(other, Relation.TOUCHES, why)
    return Relative(other, Relation.RESEMBLES, why) if is_near else None


Compared = tuple[bool, str, str]


def _memories(one: Change, other: Change) -> Compared:
    mine, theirs = _own_lines(one), _own_lines(other)
    found = evidence(theirs, Known("", "", mine))
    if found.is_exact or found.is_about_another:
        return found.is_exact or found.is_near, "", found.why
    return found.is_near, clashes(theirs, mine), found.why


def _texts(one: Change, other: Change) -> Compared:
    """Compare two items of a package's kind: those of one name are about the same."""
    assert one.after is not None
    assert other.after is not None
    if name_key(one.after.name) != name_key(other.after.name):
        return False, "", ""
    differs = one.after.content != other.after.content
    return True, Message("near.same_key", name=other.after.name) if differs else "", ""


def _own_lines(change: Change) -> str:
    """Return what a change of a memory says that was not there before it."""
    assert change.after is not None
    known = change.before.content.splitlines() if change.before else ()
    own = [line for line in change.after.content.splitlines() if line not in known]
    return "\n".join(own) or change.after.content


def _tables(one: Change, other: Change) -> Compared:
    try:
        mine, theirs = _own_rows(one), _own_rows(other)
    except RuleInvalid:
        return False, "", ""
    is_near = beside(theirs, mine) is not None or name_key(mine.name) == name_key(theirs.name)
    if not is_near:
        return False, "", ""
    pairs = row_pairs(theirs, mine)
    differing = [row for row, known, agrees in pairs if known is not None and not agrees]
    return True, "; ".join(row.annotation or row.id for row in differing), ""


def _own_rows(change: Change) -> DecisionTable:
    """Return a table with the rows that a change adds or alters. Raises RuleInvalid."""
    assert change.after is not None
    after = parse_xml(change.after.content)
    before = parse_xml(change.before.content).rows if change.before else ()
    known = {(row.inputs, row.outputs) for row in before}
    own = tuple(row for row in after.rows if (row.inputs, row.outputs) not in known)
    return after.model_copy(update={"rows": own})


def _skills(one: Change, other: Change) -> Compared:
    assert one.after is not None
    assert other.after is not None
    found: Evidence = compare_skills(_bundle(other.after), [_bundle(one.after)])[0]
    return found.is_exact or found.is_neighbour, "", found.why


def _bundle(state: Snapshot) -> Bundle:
    files = {SKILL_MD: SkillFile(data=state.content.encode())}
    return Bundle(name=state.name, files=files)


def _names(change: Change) -> set[str]:
    states = [state for state in (change.before, change.after) if state is not None]
    return {name for state in states for name in state.content.splitlines()}


_COMPARED: Mapping[Kind, Callable[[Change, Change], Compared]] = {
    Kind.MEMORY: _memories,
    Kind.DMN_RULE: _tables,
    Kind.SKILL: _skills,
}
