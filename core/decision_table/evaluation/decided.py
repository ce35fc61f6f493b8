"""What a decision table came to, and why: every row and cell with its outcome."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import JsonValue

from core.decision_table.feel import Value, to_json
from core.models import Aggregation, HitPolicy


@dataclass(frozen=True)
class CellOutcome:
    """One test against one value, both as FEEL; `why` says what kept `holds` at None."""

    column: str
    test: str
    value: str
    holds: bool | None
    why: str


@dataclass(frozen=True)
class RowOutcome:
    """A row matches where all its cells hold."""

    id: str
    cells: tuple[CellOutcome, ...]

    @property
    def matches(self) -> bool:
        """True where all cells hold."""
        return all(cell.holds for cell in self.cells)


@dataclass(frozen=True)
class Decided:
    """The outcome of a decision.

    `fired` are the ids of the rows that the hit policy lets count, in its order; `outputs` are
    output column -> value, one for each of them, or a single one where values are aggregated or
    the table's defaults stand in (`defaulted`). `notes` tell why outputs came to null.
    """

    decision: str
    hit_policy: HitPolicy
    aggregation: Aggregation | None
    outputs: tuple[Mapping[str, Value], ...]
    fired: tuple[str, ...]
    rows: tuple[RowOutcome, ...]
    defaulted: bool = False
    notes: tuple[str, ...] = ()

    @property
    def many(self) -> bool:
        """True where the hit policy gives a list (DMN 1.3, 8.2.10): R, O, and C without a sign."""
        collects = self.hit_policy is HitPolicy.COLLECT and self.aggregation is None
        return collects or self.hit_policy in (HitPolicy.RULE_ORDER, HitPolicy.OUTPUT_ORDER)

    @property
    def result(self) -> JsonValue:
        """The outputs for JSON: an object or null, or a list of objects, empty or not."""
        objects: list[JsonValue] = [
            {name: to_json(value) for name, value in output.items()} for output in self.outputs
        ]
        if self.many and not self.defaulted:
            return objects
        return objects[0] if objects else None
