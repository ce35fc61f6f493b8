"""Which rows of a decision table a case decides by (pure)."""

from __future__ import annotations

from collections.abc import Iterable

from core.decision_table import decide
from core.domain.errors import RuleInvalid
from core.domain.models import DecisionTable
from core.domain.models.cases import CaseBody, Check


def uncovered_rows(table: DecisionTable, bodies: Iterable[CaseBody]) -> tuple[int, ...]:
    """Return the rows, counted from 1, that no case decides by."""
    fired: set[str] = set()
    for body in bodies:
        if body.check is Check.DECISION:
            fired.update(_fired(table, body))
    return tuple(n for n, row in enumerate(table.rows, start=1) if row.id not in fired)


def _fired(table: DecisionTable, body: CaseBody) -> tuple[str, ...]:
    try:
        return decide(table, body.inputs).fired
    except RuleInvalid:  # it is red, and says why itself
        return ()
