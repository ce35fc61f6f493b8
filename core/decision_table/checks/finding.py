"""How findings are made, and how they word a case."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from pydantic import JsonValue

from core.decision_table.feel import Value, to_text
from core.decision_table.problems import listing, row_named
from core.domain.messages import Message
from core.domain.models import Defect, DefectKind, Severity

Finding: TypeAlias = Defect
_MOST_SHOWN = 80


def error(
    kind: DefectKind,
    message: str,
    rows: Sequence[str] = (),
    columns: Sequence[str] = (),
    *,
    example: Mapping[str, JsonValue] | None = None,
) -> Finding:
    """Return a finding that refuses the change which introduces it."""
    return Defect(
        kind=kind,
        severity=Severity.ERROR,
        message=message,
        rows=tuple(rows),
        columns=tuple(columns),
        example=example,
    )


def warning(
    kind: DefectKind,
    message: str,
    rows: Sequence[str] = (),
    columns: Sequence[str] = (),
    *,
    example: Mapping[str, JsonValue] | None = None,
) -> Finding:
    """Return a finding that accompanies the change."""
    found = error(kind, message, rows=rows, columns=columns, example=example)
    return found.model_copy(update={"severity": Severity.WARNING})


def shown(case: Mapping[str, Value]) -> str:
    """Return a case as FEEL, in input order."""
    return ", ".join(f"{name} = {brief(to_text(value))}" for name, value in case.items())


def named(rows: Sequence[str]) -> str:
    """Return rows named for a sentence, at most twelve of them."""
    if len(rows) == 1:
        return row_named(rows[0])
    return Message("table.rows", rows=listing(rows))


def brief(text: str) -> str:
    """Return a cell shortened to fit into a sentence."""
    return text if len(text) <= _MOST_SHOWN else text[:_MOST_SHOWN] + "…"
