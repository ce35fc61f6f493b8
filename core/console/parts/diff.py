"""A diff to look at: side by side, on a phone one below the other. Words and signs say what
colours show.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from markupsafe import Markup

from core.console.parts.markup import Part, el, join
from core.console.parts.named import row_kind
from core.console.parts.table_diff import table
from core.console.visit import Visit
from core.desk.sheet.shown import (
    Diff,
    FileDiff,
    FileSide,
    Line,
    LineRow,
    ListDiff,
    RowKind,
    Side,
    TextDiff,
)

_SIGNS = {RowKind.ADDED: "+", RowKind.REMOVED: "−", RowKind.CHANGED: "~"}


# Says where a file of the change can be had whole: its path and the side -> an address.
FileLink = Callable[[str, Side], str]


def show_diff(visit: Visit, diff: Diff, whole: FileLink) -> Iterator[Markup]:
    """Give the parts of a diff: the list or the table where it has one, then its files."""
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
    """Draw both sides; of a file that comes or goes the one that there is."""
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
        Side.BEFORE: _side(row.left, RowKind.REMOVED, row.kind),
        Side.AFTER: _side(row.right, RowKind.ADDED, row.kind),
    }
    return el("tr", *(cell for side in sides for cell in cells[side]), class_=row.kind.value)


def _side(line: Line | None, as_: RowKind, kind: RowKind) -> tuple[Markup, Markup]:
    if line is None:
        return el("td", class_="number void"), el("td", class_="void")
    is_same = kind is RowKind.SAME
    sign = el("span", " " if is_same else _SIGNS[as_], class_="sign")
    side = "same" if is_same else as_.value
    return (
        el("td", str(line.number), class_=f"number {side}"),
        el("td", sign, join(_spans(line)), "…" if line.cut else None, class_=side),
    )


def _spans(line: Line) -> Iterator[Part]:
    at = 0
    for span in line.spans:
        yield line.text[at : span.start]
        yield el("mark", line.text[span.start : span.end])
        at = span.end
    yield line.text[at:]
