"""Detect that a change about to be recorded repeats an item written since it was prepared."""

from __future__ import annotations

from core.decision_table import read_xml
from core.domain.errors import RuleInvalid
from core.domain.models import (
    SKILL_MD,
    Bundle,
    Change,
    DecisionTable,
    Kind,
    Relationship,
    SkillFile,
)
from core.knowledge.duplicates.rules import beside
from core.knowledge.duplicates.skills import compare_skills, same_but_for_name
from core.knowledge.duplicates.texts import is_repeated


def repeats(change: Change, content: str) -> bool:
    """Whether a change repeats another item, given as its text or DMN document."""
    if change.after is None:
        return False
    if change.kind is Kind.DMN_RULE:
        return _share_columns(change.after.content, content)
    unrelated = change.relationship is Relationship.UNRELATED
    return is_repeated(change.after.content, content, unrelated=unrelated)


def repeats_skill(change: Change, name: str, document: str) -> bool:
    """Whether the skill of a change repeats another, given as its SKILL.md.

    A skill declared unrelated repeats only an identical document.
    """
    if change.after is None:
        return False
    new, known = _alone(change.target_id, change.after.content), _alone(name, document)
    if change.relationship is Relationship.UNRELATED:
        return same_but_for_name(new, known)
    found = compare_skills(new, [known])[0]
    return found.is_exact or found.is_neighbour


def _alone(name: str, document: str) -> Bundle:
    return Bundle(name=name, files={SKILL_MD: SkillFile(data=document.encode())})


def _share_columns(xml: str, other: str) -> bool:
    """Whether two tables have the same columns; an unreadable one has none."""
    ours, theirs = _table(xml), _table(other)
    return ours is not None and theirs is not None and beside(ours, theirs) is not None


def _table(xml: str) -> DecisionTable | None:
    try:
        return read_xml(xml)
    except RuleInvalid:
        return None
