"""A table with all its FEEL parsed: all cells that do not parse are reported together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from core.decision_table.evaluation.blind import blind, never_looks
from core.decision_table.feel import Node, parse_expression, parse_tests
from core.decision_table.problems import refuse
from core.domain.errors import RuleInvalid
from core.domain.messages import Message
from core.domain.models import DecisionRow, DecisionTable, InputColumn, OutputColumn

_Parse = Callable[[str, Sequence[str]], Node]


@dataclass(frozen=True)
class CompiledRow:
    """The trees of a row, in column order."""

    id: str
    tests: tuple[Node, ...]
    outputs: tuple[Node, ...]


@dataclass(frozen=True)
class CompiledTable:
    """The trees of a table, in column and row order; None for a clause without text.

    `used` are the names that rows use besides those of the input columns.
    """

    rows: tuple[CompiledRow, ...]
    allowed_inputs: tuple[Node | None, ...]
    allowed_outputs: tuple[Node | None, ...]
    defaults: tuple[Node | None, ...]
    used: frozenset[str]


@dataclass(frozen=True, eq=False)
class _Same:
    """A cache key that compares by identity: comparing all cells of a frozen table takes long."""

    table: DecisionTable

    def __hash__(self) -> int:
        return id(self.table)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.table is self.table


def compile_table(table: DecisionTable) -> CompiledTable:
    """Parse all cells; those of rows may name inputs and what the document declares.

    An empty output cell is null. The same object is parsed once. Raises RuleInvalid with row,
    column and position of everything that does not parse, and of tests that never use their input.
    """
    return _compiled(_Same(table))


@lru_cache(maxsize=32)
def _compiled(same: _Same) -> CompiledTable:
    table, reader = same.table, _Reader(same.table)
    rows = tuple(reader.row(row) for row in table.rows)
    compiled = CompiledTable(
        rows=rows,
        allowed_inputs=tuple(reader.allowed(column) for column in table.inputs),
        allowed_outputs=tuple(reader.allowed(column) for column in table.outputs),
        defaults=tuple(reader.default(column) for column in table.outputs),
        used=frozenset(
            str(node.value)
            for row in rows
            for tree in (*row.tests, *row.outputs)
            for node in tree.walk()
            if node.op == "name" and node.value not in reader.inputs
        ),
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
        declared = (column.name for column in self.table.declared)
        self.names = tuple(dict.fromkeys((*self.inputs, *declared)))

    def row(self, row: DecisionRow) -> CompiledRow:
        tests = [
            self._test(column, cell, row.id)
            for column, cell in zip(self.table.inputs, row.inputs, strict=True)
        ]
        outputs = [
            self._output(name, cell, row.id)
            for name, cell in zip(self.outputs, row.outputs, strict=True)
        ]
        return CompiledRow(row.id, tuple(tests), tuple(outputs))

    def allowed(self, column: InputColumn | OutputColumn) -> Node | None:
        def where() -> str:
            return Message("table.allowed_of", column=column.name)

        return self._read(parse_tests, column.allowed, (), where) if column.allowed else None

    def default(self, column: OutputColumn) -> Node | None:
        def where() -> str:
            return Message("table.default_of", column=column.name)

        return self._read(parse_expression, column.default, (), where) if column.default else None

    def _test(self, column: InputColumn, cell: str, row: str) -> Node:
        def where() -> str:
            return Message("table.input_cell", row=row, column=column.name)

        tree = self._read(parse_tests, cell, self.names, where)
        if never_looks(tree, column.type):
            self.problems.append(Message("table.at", where=where(), why=blind(cell)))
        return tree

    def _output(self, name: str, cell: str, row: str) -> Node:
        def where() -> str:
            return Message("table.output_cell", row=row, column=name)

        return self._read(parse_expression, cell, self.names, where)

    def _read(
        self, parse: _Parse, text: str, names: tuple[str, ...], where: Callable[[], str]
    ) -> Node:
        if text:
            try:
                return parse(text, names)
            except RuleInvalid as error:
                self.problems.append(Message("table.at", where=where(), why=error))
        return Node("literal")
