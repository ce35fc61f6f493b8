"""A decision table before and after, row by row."""

from __future__ import annotations

from collections.abc import Iterator

from markupsafe import Markup

from core.console.parts.lists import badge, listed
from core.console.parts.markup import el, join
from core.console.parts.named import row_kind
from core.console.visit import Visit
from core.desk.sheet.shown import Cell, ColumnDiff, Finding, RowKind, TableDiff, TableRow


def table(visit: Visit, diff: TableDiff) -> Markup:
    """Draw the rows with both values of each cell, changed columns, and what checks find."""
    heads = [
        visit.say("diff.row"),
        *(f"{_name(visit, column)}{_type(column)}" for column in diff.columns),
    ]
    rows = [_row(visit, row, len(diff.columns)) for row in diff.rows]
    if diff.more:
        said = visit.say("diff.more_rows", n=diff.more)
        rows.append(el("tr", el("td", said, colspan=str(len(heads))), class_="folded"))
    head = el("thead", el("tr", *(el("th", name, scope="col") for name in heads)))
    return el(
        "section",
        el("h3", visit.say("diff.table")),
        join(_facts(visit, diff)),
        el("div", el("table", head, el("tbody", *rows), class_="grid"), class_="wide"),
        _findings(visit, diff) if diff.findings else None,
    )


def _name(visit: Visit, column: ColumnDiff) -> str:
    return visit.say("diff.note") if column.role == "annotation" else column.name


def _type(column: ColumnDiff) -> str:
    shown = column.type.after or column.type.before
    return f" ({shown})" if shown else ""


def _facts(visit: Visit, diff: TableDiff) -> Iterator[Markup]:
    for key, cell in (("diff.table_name", diff.name), ("diff.hit_policy", diff.hit_policy)):
        yield el("p", f"{visit.say(key)}: ", _cell(cell))
    changed = [column for column in diff.columns if column.kind is not RowKind.SAME]
    if changed:
        parts = [
            el(
                "span",
                row_kind(visit, column.kind),
                " ",
                _name(visit, column),
            )
            for column in changed
        ]
        yield el("p", f"{visit.say('diff.columns')}: ", join(parts, ", "))


def _row(visit: Visit, row: TableRow, columns: int) -> Markup:
    if row.kind is RowKind.FOLDED:
        said = visit.say("diff.hidden_rows", n=row.hidden)
        return el("tr", el("td", said, colspan=str(columns + 1)), class_="folded")
    marks = [] if row.kind is RowKind.SAME else [row_kind(visit, row.kind)]
    if row.moved:
        marks.append(badge(visit.say("diff.moved"), "processing"))
    number = row.after_number or row.before_number
    first = el("th", str(number or ""), " ", join(marks, " "), scope="row", title=row.id)
    cells = [el("td", _cell(cell)) for cell in row.cells]
    return el("tr", first, *cells, class_=row.kind.value)


def _cell(cell: Cell) -> Markup:
    if cell.before == cell.after:
        return el("span", cell.after or "")
    parts = []
    if cell.before is not None:
        parts.append(el("del", cell.before or "∅"))
    if cell.after is not None:
        parts.append(el("ins", cell.after or "∅"))
    return join(parts, " ")


def _findings(visit: Visit, diff: TableDiff) -> Markup:
    rows = [_finding(visit, finding) for finding in diff.findings]
    if diff.more_findings:
        rows.append((visit.say("diff.more_rows", n=diff.more_findings), "", ""))
    heads = ("", visit.say("common.kind"), visit.say("diff.finding"))
    label = visit.say("diff.findings")
    return join([el("h3", label), listed(heads, rows, label=label)])


def _finding(visit: Visit, finding: Finding) -> tuple[Markup | str, Markup | str, Markup | str]:
    key = "diff.new_finding" if finding.is_new else "diff.old_finding"
    defect = finding.defect
    tone = "error" if defect.severity == "error" else "warning"
    word = badge(visit.say(key), tone if finding.is_new else "")
    return word, visit.say(f"diff.{defect.kind.value}"), visit.translated(defect.message)
