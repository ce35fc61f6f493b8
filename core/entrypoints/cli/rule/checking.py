"""`skill-worker rule check`: what is wrong with the decision tables of a file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from core.domain.text import one_line, to_json
from core.entrypoints.cli.exits import FAILED
from core.entrypoints.cli.options import Json
from core.entrypoints.cli.output import print_json, say
from core.entrypoints.cli.rule.naming import naming

if TYPE_CHECKING:
    from pydantic import JsonValue

    from core.domain.models import DecisionTable, Defect

_SHOWN = 100


@dataclass(frozen=True)
class _Checked:
    """A decision with its findings; `problem` says why its table could not be read."""

    decision: str
    table: DecisionTable | None = None
    findings: Sequence[Defect] = field(default_factory=tuple)
    problem: str = ""

    @property
    def errors(self) -> int:
        """The number of findings that make the table invalid."""
        return bool(self.problem) + sum(found.severity == "error" for found in self.findings)

    @property
    def warnings(self) -> int:
        """The number of findings that do not."""
        return sum(found.severity == "warning" for found in self.findings)


def check(
    file: Annotated[
        Path, typer.Argument(metavar="FILE.dmn", help="A DMN file (1.1 to 1.5); `-` is stdin.")
    ],
    decision: Annotated[
        str | None,
        typer.Option("--decision", metavar="NAME", help="Name or id of one decision; else all."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Check decision tables: clashes, gaps, rows that never count; exit 1 where there are errors.

    Warnings alone leave 0.
    """
    checked, asides = _check(file, decision)
    if as_json:
        items: list[JsonValue] = [item for one in checked for item in _items(one)]
        tables: list[JsonValue] = [_summary(one) for one in checked]
        left: list[JsonValue] = [*asides]
        print_json({"items": items, "next": None, "tables": tables, "not_evaluated": left})
    else:
        for one in checked:
            _show(one)
        for aside in asides:
            say(f"note: {one_line(aside)}")
    if any(one.errors for one in checked):
        raise typer.Exit(FAILED)


def _check(file: Path, decision: str | None) -> tuple[list[_Checked], Sequence[str]]:
    from core.decision_table import check_table, not_evaluated, parse_tables, parse_xml
    from core.entrypoints.cli.files import MAX_DOCUMENT, read_text

    text = read_text(file, most=MAX_DOCUMENT)
    with naming(file):
        if decision is not None:
            table = parse_xml(text, decision=decision)
            return [_Checked(table.name, table, check_table(table))], ()
        tables = parse_tables(text)
        asides = not_evaluated(text)
    checked = [
        _Checked(
            read.decision, read.table, check_table(read.table) if read.table else (), read.problem
        )
        for read in tables
    ]
    return checked, asides


def _show(checked: _Checked) -> None:
    table = checked.table
    if table is None:
        say(f"{one_line(checked.decision) or '?'}: cannot be read")
        say(f"  error  {one_line(checked.problem)}")
        return
    policy = " ".join(filter(None, (table.hit_policy, table.aggregation)))
    about = f"{policy}, {_count(len(table.rows), 'row')}"
    say(f"{one_line(checked.decision)} ({about}): {_verdict(checked)}")
    notes = {row.id: row.annotation for row in table.rows}
    for found in checked.findings[:_SHOWN]:
        say(f"  {found.severity.value} [{found.kind.value}] {one_line(found.message)}")
        for row in found.rows[:_SHOWN]:
            if notes[row]:
                say(f"      {one_line(row)}: {one_line(notes[row])}")
        if found.example is not None:
            say(f"      example: {one_line(to_json(dict(found.example), indent=None))}")
    if len(checked.findings) > _SHOWN:
        say(f"  … and {len(checked.findings) - _SHOWN} more; --json gives all")


def _verdict(checked: _Checked) -> str:
    if not checked.findings:
        return "nothing found"
    return f"{_count(checked.errors, 'error')}, {_count(checked.warnings, 'warning')}"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _items(checked: _Checked) -> list[JsonValue]:
    items: list[JsonValue] = [
        {"decision": checked.decision, **found.model_dump(mode="json")}
        for found in checked.findings
    ]
    if checked.problem:
        items.append(
            {
                "decision": checked.decision,
                "kind": "unreadable",
                "severity": "error",
                "message": checked.problem,
                "rows": [],
                "columns": [],
                "example": None,
            }
        )
    return items


def _summary(checked: _Checked) -> JsonValue:
    table = checked.table
    return {
        "decision": checked.decision,
        "hit_policy": table.hit_policy.value if table else None,
        "aggregation": table.aggregation.value if table and table.aggregation else None,
        "rows": len(table.rows) if table else None,
        "errors": checked.errors,
        "warnings": checked.warnings,
        "valid": checked.errors == 0,
    }
