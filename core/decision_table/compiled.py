"""A table with all its FEEL parsed: every cell that does not parse is told at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from core.decision_table.feel import Node, parse_expression, parse_tests
from core.decision_table.problems import refuse
from core.errors import RuleInvalid
from core.models import DecisionRow, DecisionTable, InputColumn, OutputColumn

_Parse = Callable[[str, Sequence[str]], Node]


@dataclass(frozen=True)
class CompiledRow:
    """The trees of a row, in column order."""

    id: str
    tests: tuple[Node, ...]
    outputs: tuple[Node, ...]


@dataclass(frozen=True)
class CompiledTable:
    """The trees of a table, in the order of its columns and rows; None where a clause is silent."""

    rows: tuple[CompiledRow, ...]
    allowed_inputs: tuple[Node | None, ...]
    allowed_outputs: tuple[Node | None, ...]
    defaults: tuple[Node | None, ...]


def compile_table(table: DecisionTable) -> CompiledTable:
    """Parse all cells; those of rows may name any input. An empty output cell is null.

    Raises RuleInvalid with row, column and place of all that does not parse.
    """
    reader = _Reader(table)
    compiled = CompiledTable(
        rows=tuple(reader.row(row) for row in table.rows),
        allowed_inputs=tuple(reader.allowed(column) for column in table.inputs),
        allowed_outputs=tuple(reader.allowed(column) for column in table.outputs),
        defaults=tuple(reader.default(column) for column in table.outputs),
    )
    refuse(reader.problems)
    return compiled


@dataclass
class _Reader:
    table: DecisionTable
    problems: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.inputs = tuple(column.name for column in self.table.inputs)
        self.outputs = tuple(column.name for column in self.table.outputs)

    def row(self, row: DecisionRow) -> CompiledRow:
        tests = [
            self._read(parse_tests, cell, self.inputs, f"row '{row.id}', input '{name}'")
            for name, cell in zip(self.inputs, row.inputs, strict=True)
        ]
        outputs = [
            self._read(parse_expression, cell, self.inputs, f"row '{row.id}', output '{name}'")
            for name, cell in zip(self.outputs, row.outputs, strict=True)
        ]
        return CompiledRow(row.id, tuple(tests), tuple(outputs))

    def allowed(self, column: InputColumn | OutputColumn) -> Node | None:
        where = f"the allowed values of '{column.name}'"
        return self._read(parse_tests, column.allowed, (), where) if column.allowed else None

    def default(self, column: OutputColumn) -> Node | None:
        where = f"the default value of '{column.name}'"
        return self._read(parse_expression, column.default, (), where) if column.default else None

    def _read(self, parse: _Parse, text: str, names: tuple[str, ...], where: str) -> Node:
        if text:
            try:
                return parse(text, names)
            except RuleInvalid as error:
                self.problems.append(f"{where}: {error}")
        return Node("literal")
