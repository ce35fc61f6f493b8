"""How the kinds differ where a change is done over: what it stands on, may be, and leaves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from core.decision_table import parse_xml
from core.decision_table.learning.introduced import introduced
from core.errors import RuleInvalid
from core.models import SKILL_MD, Bundle, Kind, Severity, SkillFile
from core.rebasing.states import State
from core.rebasing.units import without_rows
from core.skill_quick_validate import check_bundle, errors_of
from core.snapshots import memory_name


def ground(kind: Kind, created: State) -> State | None:
    """Give what later changes stand on where the creation is taken back: a table without rows."""
    if kind is not Kind.DMN_RULE:
        return None
    return replace(created, text=without_rows(created.text))


def is_nothing(kind: Kind, state: State) -> bool:
    """Tell whether nothing is left that anybody taught."""
    if kind is Kind.DMN_RULE:
        return not parse_xml(state.text).rows
    return kind is Kind.MEMORY and not state.text.strip()


def named(kind: Kind, state: State) -> State:
    """Give a state the name that its text has."""
    if kind is Kind.MEMORY:
        return replace(state, name=memory_name(state.text))
    if kind is Kind.DMN_RULE:
        return replace(state, name=parse_xml(state.text).name)
    return state


def problem(kind: Kind, state: State, known: State | None) -> str:
    """Say what is wrong in a state and was not in a known one, "" where nothing is."""
    if kind is Kind.DMN_RULE:
        return _rule_problem(state, known)
    if kind is Kind.SKILL:
        new = set(_skill_problems(state)) - set(_skill_problems(known) if known else ())
        return "; ".join(sorted(new))
    return ""


def _rule_problem(state: State, known: State | None) -> str:
    try:
        table = parse_xml(state.text)
        before = parse_xml(known.text) if known else None
    except RuleInvalid as error:
        return f"the table cannot be read: {error.message}"
    ids = {row.id: row.id for row in before.rows} if before else {}
    found = introduced(before, table, ids)
    return "; ".join(d.message for d in found if d.severity is Severity.ERROR)


def _skill_problems(state: State) -> Sequence[str]:
    document = SkillFile(data=state.text.encode(), executable=state.runs)
    bundle = Bundle(name=state.name, files={**(state.files or {}), SKILL_MD: document})
    return [problem.message for problem in errors_of(check_bundle(bundle))]
