"""Cases, outcomes and rows in few words, for messages."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from pydantic import JsonValue

from core.decision_table.cells import ANY
from core.decision_table.problems import row_named
from core.domain.messages import Message, joined
from core.domain.models import DecisionRow, DecisionTable, InputColumn, OutputColumn

MAX_CASE = 160
MAX_ROW = 160
_NOTHING = Message("learn.nothing")


def case_words(inputs: Mapping[str, JsonValue]) -> str:
    """Return the inputs of a case as `amount=1500000, grade="VIP"`."""
    return _cut(_pairs(inputs), MAX_CASE)


def outcome_words(outcome: JsonValue) -> str:
    """Return what a table returned: `approver="manager"`, several of them, or `nothing`."""
    results = outcome if isinstance(outcome, list) else [outcome]
    texts = [_pairs(one) if isinstance(one, dict) else _NOTHING for one in results]
    return _cut(joined(texts, " and ") or _NOTHING, MAX_CASE)


def row_words(table: DecisionTable, row_id: str) -> str:
    """Return a row named by what it says: its remark, else its conditions and outcome."""
    row = next((row for row in table.rows if row.id == row_id), None)
    if row is None:
        return row_named(row_id)
    text = _cut(row.annotation or _rule(table, row), MAX_ROW)
    return Message("table.row_saying", row=row_id, text=text)


def remark_words(table: DecisionTable, old: DecisionRow, new: DecisionRow) -> str:
    """Return a sentence that only the wording of a row differs."""
    return Message(
        "learn.only_words_change",
        row=new.id,
        cells=_cut(_rule(table, new), MAX_ROW),
        old=_quoted(old.annotation),
        new=_quoted(new.annotation),
    )


def _rule(table: DecisionTable, row: DecisionRow) -> str:
    conditions = _cells(table.inputs, row.inputs) or "always"
    return f"{conditions} → {_cells(table.outputs, row.outputs)}"


def _quoted(remark: str) -> str:
    return f"'{_cut(remark, MAX_ROW)}'" if remark else _NOTHING


def _cells(columns: Sequence[InputColumn | OutputColumn], cells: Sequence[str]) -> str:
    named = zip(columns, cells, strict=False)
    return ", ".join(f"{column.name} {cell}" for column, cell in named if cell != ANY)


def _pairs(values: Mapping[str, JsonValue]) -> str:
    return ", ".join(
        f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in values.items()
    )


def _cut(words: str, most: int) -> str:
    return words if len(words) <= most else words[: most - 1] + "…"
