"""What is wrong with a state that was put together from several changes (pure)."""

from __future__ import annotations

from collections.abc import Sequence

from core.changes.three_way_merge import State
from core.decision_table import parse_xml
from core.decision_table.learning.introduced import introduced
from core.domain.errors import RuleInvalid
from core.domain.messages import Message, joined
from core.domain.models import SKILL_MD, Bundle, Kind, Severity, SkillFile
from core.skill_quick_validate import check_bundle, errors_of


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
