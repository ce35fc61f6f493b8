"""What was wrong with a table before an edit, so that it does not block the edit."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from pydantic import JsonValue

from core.decision_table.checks.check import check_table
from core.decision_table.evaluation.decide import decide
from core.decision_table.learning.examples import alone
from core.domain.errors import RuleInvalid
from core.domain.models import DecisionRow, DecisionTable, Defect, DefectKind

CLASH = {DefectKind.OVERLAP, DefectKind.CONTRADICTION}
# Findings of a row that name others only as the reason: those may change while it stays.
_OF_ONE_ROW = {DefectKind.SUBSUMED_ROW, DefectKind.DEAD_ROW}


class Older:
    """Findings of the table before the edit, computed on demand.

    `ids` is row id before -> row id after: rows without an id of their own are known by position.
    """

    def __init__(self, before: DecisionTable, after: DecisionTable, ids: Mapping[str, str]) -> None:
        self._before = before
        self._after = after
        self._ids = ids
        self._was = {now: was for was, now in ids.items()}

    def had(self, defect: Defect) -> bool:
        """Whether a finding of the table after was one of the table before."""
        if defect.kind is DefectKind.GAP:
            was_open = self._left_open(defect.example)
            return self._had_gaps if was_open is None else was_open
        return self._stands(defect) or _key(defect, {}) in self._keys or self._clashed(defect)

    def _stands(self, defect: Defect) -> bool:
        """Whether the rows named are unchanged: then so is what they do to each other."""
        if defect.kind is DefectKind.NOT_CHECKED or not defect.rows or not self._same_frame:
            return False
        now = sorted(defect.rows, key=lambda row_id: self._now[row_id][0])
        then = [self._row_before(row_id) for row_id in now]
        pairs = zip(then, now, strict=True)
        if not all(was and _alike(was, self._now[row_id][1]) for was, row_id in pairs):
            return False
        positions = [self._then[was.id][0] for was in then if was]
        return positions == sorted(positions)

    def _clashed(self, defect: Defect) -> bool:
        """Whether two rows clashed before: not all pairs of a table are listed."""
        if defect.kind not in CLASH:
            return False
        rows = tuple(row for row_id in defect.rows if (row := self._row_before(row_id)))
        pair = self._before.model_copy(update={"rows": rows})
        return any(found.kind is defect.kind for found in check_table(pair))

    def _left_open(self, example: Mapping[str, JsonValue] | None) -> bool | None:
        """Whether no row matched the case of a gap; None if that cannot be determined."""
        try:
            decided = None if example is None else decide(self._every_row, example)
        except RuleInvalid:
            return None
        return None if decided is None else not any(row.matches for row in decided.rows)

    def _row_before(self, row_id: str) -> DecisionRow | None:
        _, row = self._then.get(self._was.get(row_id, row_id), (0, None))
        return row

    @cached_property
    def _keys(self) -> set[tuple[object, ...]]:
        return {_key(defect, self._ids) for defect in self._found}

    @cached_property
    def _had_gaps(self) -> bool:
        return any(defect.kind is DefectKind.GAP for defect in self._found)

    @cached_property
    def _found(self) -> tuple[Defect, ...]:
        return check_table(self._before)

    @cached_property
    def _every_row(self) -> DecisionTable:
        return alone(self._before, self._before.rows)

    @cached_property
    def _same_frame(self) -> bool:
        bare = {"name": "", "rows": ()}
        return self._before.model_copy(update=bare) == self._after.model_copy(update=bare)

    @cached_property
    def _then(self) -> dict[str, tuple[int, DecisionRow]]:
        return {row.id: (position, row) for position, row in enumerate(self._before.rows)}

    @cached_property
    def _now(self) -> dict[str, tuple[int, DecisionRow]]:
        return {row.id: (position, row) for position, row in enumerate(self._after.rows)}


def _key(defect: Defect, ids: Mapping[str, str]) -> tuple[object, ...]:
    named = defect.rows[:1] if defect.kind in _OF_ONE_ROW else defect.rows
    rows = frozenset(ids.get(row_id, row_id) for row_id in named)
    return (defect.kind, defect.severity, rows, frozenset(defect.columns))


def _alike(one: DecisionRow, other: DecisionRow) -> bool:
    return (one.inputs, one.outputs) == (other.inputs, other.outputs)
