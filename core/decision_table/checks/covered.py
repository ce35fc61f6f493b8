"""Rows that never count: under FIRST and PRIORITY other rows win wherever they match."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from core.decision_table.checks.boxes import Box, Space, as_json
from core.decision_table.checks.cover import Budget, GaveUp, uncovered
from core.decision_table.checks.finding import Finding, error, named, shown, warning
from core.decision_table.checks.outputs import Outputs
from core.decision_table.checks.segments import Sides, bits, contains
from core.domain.messages import Message
from core.domain.models import DecisionTable, DefectKind, HitPolicy

# In comparisons, not seconds: a table has the same findings on every machine.
_WORK = 1_000_000
_FEW = 12


def covered_rows(table: DecisionTable, space: Space, outputs: Outputs) -> Iterator[Finding]:
    """Yield the rows that never count, also where only several others together cover them."""
    if table.hit_policy is HitPolicy.FIRST:
        order = _Order(list(range(len(space.boxes))), Message("table.in_order"))
    elif table.hit_policy is HitPolicy.PRIORITY:
        order = _Order(_by_priority(space, outputs), Message("table.by_priority"))
    else:
        return
    budget = Budget(_WORK)
    open_rows: list[str] = []
    for number, box in enumerate(space.boxes):
        if box.empty:
            continue
        try:
            finding = _Question(space, number, order, budget).answer()
        except GaveUp:
            open_rows.append(box.row.id)
            continue
        if finding:
            yield finding
    if open_rows:
        yield warning(
            DefectKind.NOT_CHECKED,
            Message("table.covered_not_checked", rows=named(open_rows)),
            rows=open_rows,
        )


@dataclass(frozen=True)
class _Order:
    """The rank of each row, the winning one lowest; None if unknown."""

    ranks: Sequence[int | None]
    how: str

    def wins(self, one: int, other: int) -> bool:
        """Whether a row counts instead of another where both match."""
        left, right = self.ranks[one], self.ranks[other]
        return left is not None and right is not None and left < right


def _by_priority(space: Space, outputs: Outputs) -> list[int | None]:
    """Rank rows as `choose` does: by the ranks of their outputs, then by row order."""
    ranks = {number: outputs.rank(box.row.id) for number, box in enumerate(space.boxes)}
    known = [(rank, number) for number, rank in ranks.items() if rank is not None]
    positions = {number: position for position, (_, number) in enumerate(sorted(known))}
    return [positions.get(number) for number in ranks]


@dataclass(frozen=True)
class _Question:
    """Whether one row ever counts."""

    space: Space
    number: int
    order: _Order
    budget: Budget

    def answer(self) -> Finding | None:
        """Return what is wrong with the row, if anything is. Raises GaveUp."""
        if self.budget.left <= 0:
            raise GaveUp
        box = self.space.boxes[self.number]
        if whole := self._single(box.may):
            return self._never([whole.row.id])
        ordinary = tuple(
            column.domain.without_null(side) or side
            for column, side in zip(self.space.columns, box.may, strict=True)
        )
        winners = list(self._winners())
        sides = [winner.must for winner in winners]
        if not winners or uncovered(ordinary, sides, self.budget) is not None:
            return None
        left = None if ordinary == box.may else uncovered(box.may, sides, self.budget)
        if left is None:
            return self._never(self._needed(box.may, winners))
        return self._null_only(left, self._needed(ordinary, winners))

    def _winners(self) -> Iterator[Box]:
        """Yield the rows that win against this one and may share a case with it."""
        for other in bits(self.space.perhaps_meeting[self.number]):
            self.budget.spend(1)
            if self.order.wins(other, self.number):
                yield self.space.boxes[other]

    def _single(self, box: Sides) -> Box | None:
        return next((winner for winner in self._winners() if contains(winner.must, box)), None)

    def _needed(self, box: Sides, winners: Sequence[Box]) -> list[str]:
        """Return rows that cover the box: one if one does, a minimal set if they are few."""
        if whole := self._single(box):
            return [whole.row.id]
        needed = list(winners)
        for winner in winners if len(winners) <= _FEW else ():
            rest = [other for other in needed if other is not winner]
            if uncovered(box, [other.must for other in rest], self.budget) is None:
                needed = rest
        return [winner.row.id for winner in needed]

    def _never(self, names: Sequence[str]) -> Finding:
        box = self.space.boxes[self.number]
        return error(
            DefectKind.SUBSUMED_ROW,
            Message("table.row_never_counts", row=box.row.id, what=self._come(names)),
            rows=[box.row.id, *names],
            example=as_json(self.space.case(box.may)) if box.clear else None,
        )

    def _null_only(self, left: Sides, names: Sequence[str]) -> Finding:
        row_id, case = self.space.boxes[self.number].row.id, self.space.case(left)
        return warning(
            DefectKind.SUBSUMED_ROW,
            Message(
                "table.row_counts_for_null", row=row_id, case=shown(case), what=self._come(names)
            ),
            rows=[row_id, *names],
            example=as_json(case),
        )

    def _come(self, names: Sequence[str]) -> str:
        if len(names) == 1:
            return Message("table.comes", row=named(names), how=self.order.how)
        return Message("table.come", rows=named(names), how=self.order.how)
