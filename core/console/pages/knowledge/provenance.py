"""Who taught what, line by line or row by row."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from markupsafe import Markup

from core.console.pages.knowledge.versions import because
from core.console.parts.markup import el, join
from core.console.visit import Visit
from core.desk.known import Part, Provenance, Source
from core.models import DecisionTable
from core.models.known import Version


def provenance_parts(visit: Visit, traced: Provenance) -> Iterator[Markup]:
    """Draw a text or a table, and beside each part of it where that came from."""
    versions = {one.version: one for one in traced.versions if one.version is not None}
    if traced.table is not None:
        yield el("div", _table(visit, traced.table, traced.parts, versions), class_="wide")
        return
    if not traced.lines:
        yield el("p", visit.say("knowledge.binary"), class_="muted")
        return
    rows = [_part(visit, part, traced.lines, versions) for part in traced.parts]
    yield el("table", el("tbody", *rows), class_="blame")


def _part(
    visit: Visit, part: Part, lines: Sequence[str], versions: Mapping[int, Version]
) -> Markup:
    text = "\n".join(lines[part.first - 1 : part.last])
    return el(
        "tr",
        el("td", _source(visit, part, versions), class_="from"),
        el("td", str(part.first), class_="number"),
        el("td", el("div", text, class_="line")),
    )


def _source(visit: Visit, part: Part, versions: Mapping[int, Version]) -> Markup:
    one = versions.get(part.version) if part.version is not None else None
    if part.source is not Source.VERSION or one is None:
        source = Source.OTHERS if part.source is Source.VERSION else part.source
        return el("span", visit.say(f"knowledge.by_{source.value}"), class_="muted small")
    return join([el("span", f"v{one.version}", class_="badge"), because(visit, one.by)], " ")


def _table(
    visit: Visit,
    table: DecisionTable,
    parts: Sequence[Part],
    versions: Mapping[int, Version],
) -> Markup:
    columns = [column.name for column in table.inputs]
    columns += [column.name for column in table.outputs]
    heads = ("", *columns, visit.say("knowledge.because"))
    sources = {number: part for part in parts for number in range(part.first, part.last + 1)}
    rows = []
    for number, row in enumerate(table.rows, start=1):
        cells = [el("td", cell) for cell in (*row.inputs, *row.outputs)]
        part = sources.get(number)
        source = _source(visit, part, versions) if part else None
        rows.append(el("tr", el("th", str(number), scope="row"), *cells, el("td", source)))
    head = el("thead", el("tr", *(el("th", name, scope="col") for name in heads)))
    return el("table", head, el("tbody", *rows), class_="grid")
