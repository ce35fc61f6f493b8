"""Findings that an edit introduces into a table, apart from those that the table had before."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from core.decision_table.checks.check import check_table
from core.decision_table.learning.older import CLASH, Older
from core.decision_table.learning.wording import row_words
from core.decision_table.problems import refuse
from core.domain.messages import Message, cut, joined
from core.domain.models import DecisionTable, Defect, DefectKind, HitPolicy, Severity

MAX_WARNINGS = 8
MAX_WARNING = 400

_APART = Message("learn.apart")
_APART_OR_CHANGED = Message("learn.apart_or_change")
_ORDER = Message("learn.order")
_ORDER_OR_ADD = Message("learn.order_or_add")


def introduced(
    before: DecisionTable | None, after: DecisionTable, ids: Mapping[str, str]
) -> list[Defect]:
    """Return what `check_table` finds in `after` and not in `before`.

    `ids` is row id before -> row id after: rows without an id of their own are known by position.
    """
    found = check_table(after)
    if before is None:
        return [*found]
    older = Older(before, after, ids)
    return [defect for defect in found if not older.had(defect)]


def refuse_errors(table: DecisionTable, defects: Iterable[Defect], *, new: bool) -> None:
    """Raise RuleInvalid naming the rows of each error, and what can be done."""
    errors = [defect for defect in defects if defect.severity is Severity.ERROR]
    hint = Message("learn.correct_cells")
    if any(defect.kind in CLASH for defect in errors):
        hint = _APART if new else _APART_OR_CHANGED
    elif table.hit_policy is HitPolicy.FIRST and _any_covered(errors):
        hint = _ORDER if new else _ORDER_OR_ADD
    refuse([_sentence(table, defect) for defect in errors], hint=hint)


def _any_covered(errors: Iterable[Defect]) -> bool:
    return any(defect.kind is DefectKind.SUBSUMED_ROW for defect in errors)


def warnings_of(table: DecisionTable, defects: Sequence[Defect]) -> list[str]:
    """Return the warnings as sentences, limited in number and length."""
    found = [defect for defect in defects if defect.severity is Severity.WARNING]
    sentences = [cut(_sentence(table, defect), MAX_WARNING) for defect in found[:MAX_WARNINGS]]
    if len(found) > MAX_WARNINGS:
        sentences.append(Message("learn.more_findings", n=len(found) - MAX_WARNINGS))
    return sentences


def _sentence(table: DecisionTable, defect: Defect) -> str:
    rows = [row_words(table, row_id) for row_id in defect.rows[:3]]
    unsaid = [words for words in rows if words not in defect.message]
    if not unsaid:
        return defect.message
    return Message("learn.finding", found=defect.message, rows=joined(unsaid))
