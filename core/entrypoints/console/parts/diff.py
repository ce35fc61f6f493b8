"""A diff drawn side by side, on a phone one below the other; no fact is told by colour alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from markupsafe import Markup

from core.entrypoints.console.parts.lists import badge, listed
from core.entrypoints.console.parts.markup import Part, el, join
from core.entrypoints.console.parts.named import row_kind
from core.entrypoints.console.visit import Visit
from core.entrypoints.service.review_view.shown import (
    Cell,
    ColumnDiff,
    Diff,
    FileDiff,
    FileSide,
    Finding,
    Line,
    LineRow,
    ListDiff,
    RowKind,
    Side,
    TableDiff,
    TableRow,
    TextDiff,
)


def table(visit: Visit, diff: TableDiff) -> Markup:
    """Draw the rows with both values of each cell, changed columns, and findings of the checks."""
    heads = [
        visit.say("diff.row"),
        *(f"{_name(visit, column)}{_type(column)}" for column in diff.columns),
    ]
    rows = [_table_row(visit, row, len(diff.columns)) for row in diff.rows]
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


def _table_row(visit: Visit, row: TableRow, columns: int) -> Markup:
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


_SIGNS = {RowKind.ADDED: "+", RowKind.REMOVED: "−", RowKind.CHANGED: "~"}


# Returns where a file of the change can be fetched whole: its path and the side -> a URL.
FileLink = Callable[[str, Side], str]


def show_diff(visit: Visit, diff: Diff, whole: FileLink) -> Iterator[Markup]:
    """Yield the parts of a diff: the list or the table if it has one, then its files."""
    if diff.names is not None:
        yield _names(visit, diff.names)
        return
    if diff.table_problem:
        said = visit.say("diff.table_problem", reason=visit.translated(diff.table_problem))
        yield el("p", said, class_="banner warn")
    files = join(_file(visit, file, whole) for file in diff.files)
    if diff.table is not None:
        yield table(visit, diff.table)
        title = el("summary", visit.say("diff.document"))
        yield el("details", title, files, class_="card")
    else:
        yield files
    if not diff.files and diff.table is None:
        yield el("p", visit.say("diff.nothing"), class_="muted")
    for key, number in (("diff.more_files", diff.more), ("diff.unchanged", diff.unchanged)):
        if number:
            yield el("p", visit.say(key, n=number), class_="muted small")


def _names(visit: Visit, names: ListDiff) -> Markup:
    lines = [
        *((RowKind.ADDED, name) for name in names.added),
        *((RowKind.REMOVED, name) for name in names.removed),
        *((RowKind.SAME, name) for name in names.kept),
    ]
    rows = [
        el("li", el("span", _SIGNS.get(kind, " "), class_="sign"), name, class_=kind.value)
        for kind, name in lines
    ]
    return el("section", el("h3", visit.say("diff.skills")), el("ul", *rows, class_="names"))


def _file(visit: Visit, file: FileDiff, whole: FileLink) -> Markup:
    head = el("h3", el("code", file.path), " ", row_kind(visit, file.kind), " ", _counts(file.text))
    links = [
        el("a", f"{visit.say(f'diff.{side.value}')}: {visit.say('diff.whole')}", href=to)
        for side, there in ((Side.BEFORE, file.before), (Side.AFTER, file.after))
        if there is not None
        for to in [whole(file.path, side)]
    ]
    foot = el("p", join(links, " · "), class_="small")
    return el("section", head, join(_body(visit, file)), foot, class_="file")


def _counts(text: TextDiff | None) -> Markup | None:
    if text is None:
        return None
    return el("span", f"+{text.added} −{text.removed}", class_="muted small")


def _body(visit: Visit, file: FileDiff) -> Iterator[Markup]:
    if file.before and file.after and file.before.executable != file.after.executable:
        key = "diff.mode_on" if file.after.executable else "diff.mode_off"
        yield el("p", visit.say(key), class_="badge warn")
    if file.problem:
        yield el("p", file.problem, class_="banner warn")
    if file.binary:
        yield el("p", visit.say("diff.binary"), class_="muted")
        yield _sides(visit, file)
    if file.text is not None:
        yield _lines(visit, file, file.text)


def _sides(visit: Visit, file: FileDiff) -> Markup:
    sides = (("diff.before", file.before), ("diff.after", file.after))
    rows = [
        el("tr", el("th", visit.say(key), scope="row"), el("td", _described(visit, side)))
        for key, side in sides
        if side is not None
    ]
    return el("table", el("tbody", *rows), class_="list")


def _described(visit: Visit, side: FileSide) -> Markup:
    parts: list[Part] = [visit.say("diff.size", n=f"{side.size:,}"), f"SHA-256 {side.sha256[:16]}…"]
    if side.executable:
        parts.append(visit.say("diff.executable"))
    return join(parts, " · ")


def _lines(visit: Visit, file: FileDiff, text: TextDiff) -> Markup:
    """Draw both sides; of a file that is added or removed only the one that exists."""
    sides = [
        side
        for side, there in ((Side.BEFORE, file.before), (Side.AFTER, file.after))
        if there is not None
    ]
    cells = [el("th", visit.say(f"diff.{side.value}"), colspan="2", scope="col") for side in sides]
    widths = [el("col", class_=name) for _ in sides for name in ("number", "text")]
    span = str(2 * len(sides))
    rows = [_row(visit, row, sides, span) for row in text.rows]
    if text.more:
        said = visit.say("diff.more_lines", n=text.more)
        rows.append(el("tr", el("td", said, colspan=span), class_="folded"))
    head = el("thead", el("tr", *cells))
    return el("table", el("colgroup", *widths), head, el("tbody", *rows), class_="diff")


def _row(visit: Visit, row: LineRow, sides: Sequence[Side], span: str) -> Markup:
    if row.kind is RowKind.FOLDED:
        said = visit.say("diff.hidden", n=row.hidden)
        return el("tr", el("td", said, colspan=span), class_="folded")
    cells = {
        Side.BEFORE: _side(visit, row.left, RowKind.REMOVED, row.kind),
        Side.AFTER: _side(visit, row.right, RowKind.ADDED, row.kind),
    }
    return el("tr", *(cell for side in sides for cell in cells[side]), class_=row.kind.value)


def _side(visit: Visit, line: Line | None, as_: RowKind, kind: RowKind) -> tuple[Markup, Markup]:
    if line is None:
        return el("td", class_="number void"), el("td", class_="void")
    is_same = kind is RowKind.SAME
    sign = el("span", " " if is_same else _SIGNS[as_], class_="sign")
    side = "same" if is_same else as_.value
    return (
        el("td", str(line.number), class_=f"number {side}"),
        el("td", sign, join(_spans(visit, line)), "…" if line.cut else None, class_=side),
    )


def _spans(visit: Visit, line: Line) -> Iterator[Part]:
    """Yield a line's text, with what has changed and what was found in it marked."""
    edges = (edge for span in (*line.spans, *line.found) for edge in (span.start, span.end))
    cuts = sorted({0, len(line.text), *edges})
    for start, end in pairwise(cuts):
        text = line.text[start:end]
        is_changed = any(span.start <= start < span.end for span in line.spans)
        part: Part = el("mark", text) if is_changed else text
        found = [span.finding for span in line.found if span.start <= start < span.end]
        if found:
            title = "; ".join(visit.translated(finding.text) for finding in found)
            part = el("strong", part, class_=f"found {found[0].severity.value}", title=title)
        yield part
