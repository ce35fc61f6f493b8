"""How two changes that wait concern each other (pure)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from core.changes.merging import clashes
from core.decision_table import parse_xml
from core.domain.errors import RuleInvalid
from core.domain.hashing import name_key
from core.domain.models import SKILL_MD, Bundle, Change, Kind, SkillFile, Snapshot
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
    if change.kind is not other.kind or change.kind is Kind.AGENT_SKILLS:
        return Relative(other, Relation.TOUCHES) if is_same else None
    if change.after is None or other.after is None:
        return Relative(other, Relation.TOUCHES) if is_same else None
    is_near, differs, why = _COMPARED[change.kind](change.after, other.after)
    if differs and (is_same or is_near) and not _both_add(change, other):
        return Relative(other, Relation.CONTRADICTS, differs)
    if is_same:
        return Relative(other, Relation.TOUCHES, why)
    return Relative(other, Relation.RESEMBLES, why) if is_near else None


def _both_add(change: Change, other: Change) -> bool:
    """Whether both only add to one text, so that neither overrides the other."""
    states = (change.before, change.after, other.before, other.after)
    if change.kind is not Kind.MEMORY or not all(states):
        return False
    return all(
        one.after.content.startswith(one.before.content)
        for one in (change, other)
        if one.before and one.after
    )


Compared = tuple[bool, str, str]


def _memories(one: Snapshot, other: Snapshot) -> Compared:
    found = evidence(other.content, Known("", "", one.content))
    if found.is_exact or found.is_about_another:
        return found.is_exact or found.is_near, "", found.why
    return found.is_near, clashes(other.content, one.content), found.why


def _tables(one: Snapshot, other: Snapshot) -> Compared:
    try:
        tables = parse_xml(one.content), parse_xml(other.content)
    except RuleInvalid:
        return False, "", ""
    is_near = beside(tables[1], tables[0]) is not None
    is_near = is_near or name_key(one.name) == name_key(other.name)
    if not is_near:
        return False, "", ""
    pairs = row_pairs(tables[1], tables[0])
    differing = [row for row, known, agrees in pairs if known is not None and not agrees]
    return True, "; ".join(row.annotation or row.id for row in differing), ""


def _skills(one: Snapshot, other: Snapshot) -> Compared:
    found: Evidence = compare_skills(_bundle(other), [_bundle(one)])[0]
    same_name = one.name == other.name
    return same_name or found.is_exact or found.is_neighbour, "", found.why


def _bundle(state: Snapshot) -> Bundle:
    files = {SKILL_MD: SkillFile(data=state.content.encode())}
    return Bundle(name=state.name, files=files)


def _names(change: Change) -> set[str]:
    states = [state for state in (change.before, change.after) if state is not None]
    return {name for state in states for name in state.content.splitlines()}


_COMPARED: Mapping[Kind, Callable[[Snapshot, Snapshot], Compared]] = {
    Kind.MEMORY: _memories,
    Kind.DMN_RULE: _tables,
    Kind.SKILL: _skills,
}
