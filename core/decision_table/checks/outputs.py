"""What the rows and defaults of a table return, as far as their text alone tells."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from core.decision_table.checks.boxes import names_in
from core.decision_table.checks.finding import Finding, brief, error, warning
from core.decision_table.evaluation.given import value_type
from core.decision_table.feel import (
    Node,
    Scope,
    Value,
    evaluate,
    holds,
    parse_expression,
    parse_tests,
    to_text,
)
from core.decision_table.feel.compare import same
from core.decision_table.feel.functions import FUNCTIONS
from core.decision_table.feel.values import NoValue, kind_of
from core.decision_table.problems import row_named
from core.domain.errors import RuleInvalid
from core.domain.messages import Message, joined, said
from core.domain.models import Aggregation, DecisionTable, DefectKind, HitPolicy, OutputColumn


@dataclass(frozen=True)
class Output:
    """One output cell: its `value` if it is `constant`; `wrong` if it has none."""

    text: str
    tree: Node | None = None
    value: Value = None
    constant: bool = False
    wrong: str = ""

    def given(self, case: Mapping[str, Value]) -> Value:
        """Return the value for a case."""
        return self.value if self.tree is None else evaluate(self.tree, Scope(case))


class Outputs:
    """The outputs of a table; `rows` are in row order, None for a row that does not fit."""

    def __init__(self, table: DecisionTable) -> None:
        names = names_in(table)
        self.columns = table.outputs
        self.allowed = tuple(_allowed(column) for column in table.outputs)
        known: dict[str, Output] = {}
        self.rows: dict[str, tuple[Output, ...]] = {
            row.id: tuple(
                known.get(text) or known.setdefault(text, _read(text, names))
                for text in row.outputs
            )
            for row in table.rows
            if len(row.outputs) == len(table.outputs)
        }
        self.defaults = tuple(
            _read(column.default, ()) if column.default else None for column in table.outputs
        )

    @property
    def complete(self) -> bool:
        """Whether every output has a default, so that no case goes without an answer."""
        return all(self.defaults)

    @property
    def names(self) -> frozenset[str]:
        """The names that outputs use."""
        trees = (cell.tree for cells in self.rows.values() for cell in cells if cell.tree)
        return frozenset(
            str(node.value) for tree in trees for node in tree.walk() if node.op == "name"
        )

    def rank(self, row_id: str) -> tuple[int, ...] | None:
        """Return the rank of a row's outputs in the output values, or None if it is unknown."""
        ranks = []
        for output, tests in zip(self.rows[row_id], self.allowed, strict=True):
            if tests is None:
                continue
            if isinstance(tests, str) or not output.constant:
                return None
            ranks.append(_position(output.value, tests))
        return tuple(ranks) or None

    def differ(self, one: str, other: str, case: Mapping[str, Value]) -> tuple[str, bool] | None:
        """Return the first output in which two rows differ, or None.

        The second item is False if that is uncertain: a computed output returned the same value for
        the case at hand, and may differ for another.
        """
        unsure = None
        for column, left, right in zip(self.columns, self.rows[one], self.rows[other], strict=True):
            if not same(left.given(case), right.given(case)):
                return column.name, True
            if not (left.constant and right.constant) and left.text != right.text:
                unsure = unsure or column.name
        return None if unsure is None else (unsure, False)


def type_problem(value: Value, column: OutputColumn) -> str | None:
    """Return why a value is not of its column's type, or None."""
    if value is None:
        return None
    try:
        wanted = value_type(column.type)
    except NoValue:
        return None
    found = kind_of(value)
    if wanted in ("Any", found):
        return None
    return Message(
        "table.output_type", value=to_text(value), found=found, column=column.name, type=wanted
    )


def allows(tests: Node, value: Value) -> bool:
    """Whether a value is among the allowed ones; null always is."""
    return value is None or holds(tests, Scope(subject=value)) is True


def _allowed(column: OutputColumn) -> Node | str | None:
    """Return the allowed values of an output, or a text saying why they cannot be read."""
    if not column.allowed:
        return None
    try:
        return parse_tests(column.allowed)
    except RuleInvalid as error:
        return said(error)


def _read(text: str, names: Sequence[str]) -> Output:
    if not text:
        return Output(text, constant=True)
    try:
        tree = parse_expression(text, names)
    except RuleInvalid as error:
        return Output(text, wrong=said(error))
    if any(_varies(node) for node in tree.walk()):
        return Output(text, tree)
    scope = Scope()
    value = evaluate(tree, scope)
    return Output(text, tree, value, True, joined(dict.fromkeys(scope.notes)))


def _varies(node: Node) -> bool:
    return node.op == "name" or (node.op == "call" and FUNCTIONS[str(node.value)].clock)


def _position(value: Value, tests: Node) -> int:
    return next(_fitting(value, tests), len(tests.parts))


def _fitting(value: Value, tests: Node) -> Iterator[int]:
    scope = Scope(subject=value)
    for position, test in enumerate(tests.parts):
        if holds(Node("tests", (test,)), scope):
            yield position


_ORDERED = (HitPolicy.PRIORITY, HitPolicy.OUTPUT_ORDER)


def misfits(table: DecisionTable) -> Iterator[Finding]:
    """Yield the rows whose number of cells is not the number of columns."""
    for row in table.rows:
        have, want = (len(row.inputs), len(row.outputs)), (len(table.inputs), len(table.outputs))
        if have != want:
            yield error(
                DefectKind.UNREADABLE,
                Message(
                    "table.cells_misfit",
                    row=row.id,
                    inputs_given=have[0],
                    outputs_given=have[1],
                    inputs=want[0],
                    outputs=want[1],
                ),
                rows=(row.id,),
            )


def policy_defects(table: DecisionTable, outputs: Outputs) -> Iterator[Finding]:
    """Yield what the hit policy requires of the outputs and does not find."""
    columns = [column.name for column in table.outputs]
    if table.hit_policy in _ORDERED and not any(outputs.allowed):
        yield error(
            DefectKind.NOT_ALLOWED,
            Message("table.policy_needs_allowed", policy=table.hit_policy),
            columns=columns,
        )
    if table.aggregation and len(columns) > 1:
        yield error(
            DefectKind.NOT_ALLOWED,
            Message("table.aggregates_one_output", aggregation=table.aggregation),
            columns=columns,
        )


def output_defects(table: DecisionTable, outputs: Outputs) -> Iterator[Finding]:
    """Yield the outputs and defaults that their columns do not admit."""
    for column, allowed, default in zip(
        table.outputs, outputs.allowed, outputs.defaults, strict=True
    ):
        if isinstance(allowed, str):
            yield error(
                DefectKind.UNREADABLE,
                Message("table.allowed_unreadable", column=column.name, error=allowed),
                columns=(column.name,),
            )
        if default:
            yield from _output(table, outputs, column, default, None)
    for row_id, cells in outputs.rows.items():
        for column, cell in zip(table.outputs, cells, strict=True):
            yield from _output(table, outputs, column, cell, row_id)


def _output(
    table: DecisionTable, outputs: Outputs, column: OutputColumn, cell: Output, row_id: str | None
) -> Iterator[Finding]:
    where = Message("table.default") if row_id is None else row_named(row_id)
    rows = (row_id,) if row_id is not None else ()
    allowed = outputs.allowed[table.outputs.index(column)]
    problem = cell.wrong or (type_problem(cell.value, column) if cell.constant else None)
    problem = problem or _sum_problem(table, cell)
    if problem:
        kind, message = (
            DefectKind.UNREADABLE,
            Message("table.output_wrong", where=where, column=column.name, why=problem),
        )
    elif allowed is None or isinstance(allowed, str):
        return
    elif not cell.constant:
        yield warning(
            DefectKind.NOT_CHECKED,
            Message(
                "table.output_not_checked", where=where, cell=brief(cell.text), column=column.name
            ),
            rows=rows,
            columns=(column.name,),
        )
        return
    elif allows(allowed, cell.value):
        return
    else:
        kind = DefectKind.NOT_ALLOWED
        message = Message(
            "table.output_not_allowed",
            where=where,
            column=column.name,
            value=to_text(cell.value),
            allowed=brief(column.allowed),
        )
    yield error(kind, message, rows=rows, columns=(column.name,))


def _sum_problem(table: DecisionTable, cell: Output) -> str | None:
    if table.aggregation is not Aggregation.SUM or not cell.constant:
        return None
    if isinstance(cell.value, (int, str, tuple)):
        return Message("table.no_sum", value=to_text(cell.value))
    return None
