"""What code can prove of how a drafted rule relates to known decision tables, with evidence."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count

from pydantic import JsonValue, ValidationError

from core.decision_table import draft_to_table
from core.decision_table.cells import ANY
from core.decision_table.checks.boxes import Box, Space
from core.decision_table.checks.segments import contains, shared
from core.errors import RuleInvalid
from core.knowledge_conflicts.stated import same_cell, same_conditions, states
from core.models import DecisionRow, DecisionTable, InputColumn, OutputColumn, RuleDraft
from core.snapshots import name_key

MAX_ROWS = 20


@dataclass(frozen=True)
class Beside:
    """How a table stands to a known one of the same columns: rows that it has already.

    `exact` is True where the known table says all of it, and decides it so (see `stated`).
    """

    rows: int
    stated: int
    exact: bool


def beside(table: DecisionTable, known: DecisionTable) -> Beside | None:
    """Compare tables that have the same input and output columns, by name; None where not."""
    if _columns(table) != _columns(known):
        return None
    space = Space(_merged(table, known))
    new, old = space.boxes[: len(table.rows)], space.boxes[len(table.rows) :]
    stated = sum(any(same_conditions(one, o) and _agree(one, o) for o in old) for one in new)
    is_exact = stated == len(new) and states(space, table, known)
    return Beside(len(table.rows), stated, is_exact)


def compare_rules(content: str, tables: Mapping[str, DecisionTable]) -> list[JsonValue]:
    """Compare a rule with known tables (id -> table), those that share most first.

    `content` is the JSON of a RuleDraft, or free text, of which only names can be compared. Each
    entry has `id`, `name`, `name_collision`, and of a draft that parses: `same_columns`,
    `exact_duplicate` (that table says it all, and decides it so), `near_duplicate` (the rows
    belong into that table), and `rows` with `{"row", "known_row", "relation"}`, where relation
    is `duplicate`, `contradiction`, `subsumed` (by the known row), `subsumes` or `overlap`, and
    `same_outcome`.
    What is wrong with the draft is in `problem`.
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
    """Give the pairs of a drafted and a known row that can both match, where columns are shared.

    A column that only one of the tables has is `-` to the other.
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
    """Tell whether two rows give the same, in the columns that both have."""
    pairs = zip(one.row.outputs, other.row.outputs, strict=True)
    return all(same_cell(a, b) for a, b in pairs if a and b)


def _columns(table: DecisionTable) -> tuple[frozenset[str], frozenset[str]]:
    inputs, outputs = table.inputs, table.outputs
    return frozenset(name_key(c.name) for c in inputs), frozenset(name_key(c.name) for c in outputs)


def _merged(table: DecisionTable, known: DecisionTable) -> DecisionTable:
    """Give both tables' rows in the known one's columns, the new ones first."""
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
