"""What code can prove about how a drafted rule relates to known decision tables."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count

from pydantic import JsonValue, ValidationError

from core.decision_table import draft_to_table
from core.decision_table.cells import ANY
from core.decision_table.checks.boxes import Box, Space
from core.decision_table.checks.segments import bits, contains, shared
from core.decision_table.feel import Node, parse_expression
from core.domain.errors import RuleInvalid
from core.domain.hashing import name_key
from core.domain.models import (
    DecisionRow,
    DecisionTable,
    HitPolicy,
    InputColumn,
    OutputColumn,
    RuleDraft,
)

# With these policies overlapping rows with equal outputs give one answer.
_ONE_ANSWER = {HitPolicy.ANY, HitPolicy.FIRST, HitPolicy.PRIORITY}
_UNORDERED = {HitPolicy.UNIQUE, HitPolicy.ANY, HitPolicy.COLLECT}


def same_conditions(one: Box, other: Box) -> bool:
    """Whether two rows of a space match the same cases."""
    if one.row.inputs == other.row.inputs:
        return True
    return one.clear and other.clear and bool(all(one.must)) and one.must == other.must


def same_cell(one: str, other: str) -> bool:
    """Whether two output cells are equal but for their notation."""
    return one == other or (bool(one and other) and _tree(one) == _tree(other))


def states(space: Space, table: DecisionTable, known: DecisionTable) -> bool:
    """Whether `known` gives the result of `table` wherever a row of `table` matches.

    `space` has the rows of `table`, then those of `known`, in the columns of the latter. What
    cannot be decided counts as a difference.
    """
    if not _same_frame(table, known):
        return False
    count = len(table.rows)
    homes = [_home(box, space.boxes[count:]) for box in space.boxes[:count]]
    places = {number: count + home for number, home in enumerate(homes) if home is not None}
    if len(places) < count:
        return False
    taken = set(places.values())
    if known.hit_policy not in _ONE_ANSWER and len(taken) < count:
        return False  # a repeated row counts twice
    answers_always = known.aggregation is not None or any(c.default for c in known.outputs)
    if answers_always and len(taken) < len(known.rows):
        return False  # inputs that no row of `table` matches have a result too
    others = sum(1 << number for number in range(count, len(space.boxes)) if number not in taken)
    return not any(
        _interferes(space, known.hit_policy, number, home, other)
        for number, home in places.items()
        for other in bits(space.perhaps_meeting[number] & others)
    ) and (known.hit_policy in _UNORDERED or not _turned(space, places))


def _same_frame(table: DecisionTable, known: DecisionTable) -> bool:
    """Whether columns, hit policy and aggregation are the same."""
    policies = (table.hit_policy, table.aggregation), (known.hit_policy, known.aggregation)
    return (
        policies[0] == policies[1]
        and _column_shapes(table.inputs) == _column_shapes(known.inputs)
        and _column_shapes(table.outputs) == _column_shapes(known.outputs)
    )


def _column_shapes(
    columns: Sequence[InputColumn | OutputColumn],
) -> dict[str, tuple[str, str, str]]:
    return {
        name_key(column.name): (column.type, column.allowed, getattr(column, "default", ""))
        for column in columns
    }


def _home(box: Box, known: Sequence[Box]) -> int | None:
    """Return the index of the equal known row, or None."""
    return next(
        (n for n, other in enumerate(known) if same_conditions(box, other) and _same(box, other)),
        None,
    )


def _interferes(space: Space, policy: HitPolicy, number: int, home: int, other: int) -> bool:
    """Whether a known row absent from `table` changes the result of one of its rows."""
    if policy not in _ONE_ANSWER:
        return True
    comes_later = policy is HitPolicy.FIRST and other > home
    return not comes_later and not _same(space.boxes[number], space.boxes[other])


def _turned(space: Space, places: Mapping[int, int]) -> bool:
    """Whether two overlapping rows with different outputs are in the opposite order."""
    return any(
        places[number] > places[other] and not _same(space.boxes[number], space.boxes[other])
        for number in places
        for other in bits(space.perhaps_meeting[number])
        if number < other < len(places)
    )


def _same(one: Box, other: Box) -> bool:
    return all(map(same_cell, one.row.outputs, other.row.outputs))


def _tree(cell: str) -> tuple[object, ...]:
    try:
        return _shape(parse_expression(cell))
    except RuleInvalid:
        return ("text", cell)


def _shape(node: Node) -> tuple[object, ...]:
    """Return a syntax tree without token positions."""
    return (node.op, node.value, *(_shape(part) for part in node.parts))


MAX_ROWS = 20


@dataclass(frozen=True)
class Beside:
    """How a table compares with a known one of the same columns.

    `stated` of its `rows` are in the known table; `exact`: all are, with the same results.
    """

    rows: int
    stated: int
    exact: bool


def beside(table: DecisionTable, known: DecisionTable) -> Beside | None:
    """Compare two tables; None unless their input and output columns have the same names."""
    if _columns(table) != _columns(known):
        return None
    space = Space(_merged(table, known))
    new, old = space.boxes[: len(table.rows)], space.boxes[len(table.rows) :]
    stated = sum(any(same_conditions(one, o) and _agree(one, o) for o in old) for one in new)
    is_exact = stated == len(new) and states(space, table, known)
    return Beside(len(table.rows), stated, is_exact)


def row_pairs(
    table: DecisionTable, known: DecisionTable
) -> Iterator[tuple[DecisionRow, DecisionRow | None, bool]]:
    """Yield each row with the known row of the same condition, and whether their results agree."""
    space = Space(_merged(table, known))
    new, old = space.boxes[: len(table.rows)], space.boxes[len(table.rows) :]
    for row, one in zip(table.rows, new, strict=True):
        same = [other for other in old if same_conditions(one, other)]
        best = max(same, key=lambda other: _agree(one, other), default=None)
        yield row, best.row if best else None, best is not None and _agree(one, best)


def compare_rules(content: str, tables: Mapping[str, DecisionTable]) -> list[JsonValue]:
    """Compare a rule with known tables (id -> table), the most similar first.

    `content` is the JSON of a RuleDraft, or free text, for which only names are compared. Each
    entry has `id`, `name`, `name_collision`, and for a draft that parses: `same_columns`,
    `exact_duplicate` (the table has all of it, with the same results), `near_duplicate` (the
    rows belong in that table), and `rows` with `{"row", "known_row", "relation"}`, where relation
    is `duplicate`, `contradiction`, `subsumed` (by the known row), `subsumes` or `overlap`, and
    `same_outcome`.
    The problem of an invalid draft is in `problem`.
    """
    draft = _read(content)
    if draft is None:
        told = name_key(content)
        entries = [_head(key, known, name_key(known.name) in told) for key, known in tables.items()]
    else:
        entries = _entries(draft, tables)
    entries.sort(key=_weight)
    return [*entries]


def _entries(draft: RuleDraft, tables: Mapping[str, DecisionTable]) -> list[dict[str, JsonValue]]:
    numbers = count(1)
    try:
        table = draft_to_table(draft, new_row_id=lambda: f"n{next(numbers)}")
    except RuleInvalid as error:
        same = name_key(draft.name)
        return [
            {**_head(key, known, name_key(known.name) == same), "problem": error.message}
            for key, known in tables.items()
        ]
    return [_compared(table, key, known) for key, known in tables.items()]


def _read(content: str) -> RuleDraft | None:
    try:
        data = json.loads(content)
        given = data.get("rule", data) if isinstance(data, dict) else None
        return None if given is None else RuleDraft.model_validate(given)
    except (ValueError, ValidationError, RecursionError):
        return None


def _compared(table: DecisionTable, item_id: str, known: DecisionTable) -> dict[str, JsonValue]:
    found = beside(table, known)
    rows = list(_relations(table, known))
    rows.sort(key=lambda row: _ORDER.index(str(row["relation"])))
    shown: list[JsonValue] = [*rows[:MAX_ROWS]]
    return {
        **_head(item_id, known, name_key(table.name) == name_key(known.name)),
        "same_columns": found is not None,
        "exact_duplicate": found is not None and found.exact,
        "near_duplicate": found is not None and not found.exact,
        "rows": shown,
        **({"more_rows": len(rows) - MAX_ROWS} if len(rows) > MAX_ROWS else {}),
    }


def _head(item_id: str, known: DecisionTable, collides: bool) -> dict[str, JsonValue]:
    return {"id": item_id, "name": known.name, "name_collision": collides}


def _weight(entry: Mapping[str, JsonValue]) -> tuple[bool, ...]:
    wanted = ("exact_duplicate", "near_duplicate", "name_collision", "rows")
    return tuple(not entry.get(key) for key in wanted)


_ORDER = ("contradiction", "duplicate", "overlap", "subsumed", "subsumes")


def _relations(table: DecisionTable, known: DecisionTable) -> Iterator[dict[str, JsonValue]]:
    """Yield the pairs of a drafted and a known row that can both match, if columns are shared.

    A column of only one table counts as `-` in the other.
    """
    if not _columns(table)[0] & _columns(known)[0] or not _columns(table)[1] & _columns(known)[1]:
        return
    space = Space(_merged(table, known))
    new, old = space.boxes[: len(table.rows)], space.boxes[len(table.rows) :]
    for number, one in enumerate(new, 1):
        for other in old:
            relation = _relation(one, other)
            if relation:
                yield {
                    "row": number,
                    "known_row": other.row.id,
                    "relation": relation,
                    "same_outcome": _agree(one, other),
                }


def _relation(one: Box, other: Box) -> str:
    if same_conditions(one, other):
        return "duplicate" if _agree(one, other) else "contradiction"
    if not all(shared(one.must, other.must)):
        return ""
    if contains(other.must, one.must):
        return "subsumed"
    return "subsumes" if contains(one.must, other.must) else "overlap"


def _agree(one: Box, other: Box) -> bool:
    """Whether two rows have equal outputs in their common columns."""
    pairs = zip(one.row.outputs, other.row.outputs, strict=True)
    return all(same_cell(a, b) for a, b in pairs if a and b)


def _columns(table: DecisionTable) -> tuple[frozenset[str], frozenset[str]]:
    inputs, outputs = table.inputs, table.outputs
    return frozenset(name_key(c.name) for c in inputs), frozenset(name_key(c.name) for c in outputs)


def _merged(table: DecisionTable, known: DecisionTable) -> DecisionTable:
    """Return the rows of both tables in the union of their columns, the new rows first."""
    names = {name_key(column.name) for column in known.inputs}
    inputs = (*known.inputs, *(c for c in table.inputs if name_key(c.name) not in names))
    names = {name_key(column.name) for column in known.outputs}
    outputs = (*known.outputs, *(c for c in table.outputs if name_key(c.name) not in names))
    wide = known.model_copy(update={"inputs": inputs, "outputs": outputs})
    rows = (*_widened(table, wide), *_widened(known, wide))
    return wide.model_copy(update={"rows": rows})


def _widened(table: DecisionTable, wide: DecisionTable) -> Iterator[DecisionRow]:
    for row in table.rows:
        conditions = _by_name(table.inputs, row.inputs)
        results = _by_name(table.outputs, row.outputs)
        yield row.model_copy(
            update={
                "inputs": tuple(conditions.get(name_key(c.name), ANY) for c in wide.inputs),
                "outputs": tuple(results.get(name_key(c.name), "") for c in wide.outputs),
            }
        )


def _by_name(columns: Sequence[InputColumn | OutputColumn], cells: Sequence[str]) -> dict[str, str]:
    return {name_key(c.name): cell for c, cell in zip(columns, cells, strict=True)}
