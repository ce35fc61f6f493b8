"""One item: its content, who taught each line of it, its versions, and restoring one."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from markupsafe import Markup
from nicegui import ui

from core.domain.errors import InvalidInput, NotFound
from core.domain.messages import Message
from core.domain.models import SKILL_MD, DecisionTable, Kind
from core.domain.models.access import Role
from core.domain.models.knowledge import is_kind_name
from core.domain.models.views import Version
from core.entrypoints.console.pages.cases.of_item import ItemCases
from core.entrypoints.console.pages.knowledge.lists import SkillHolders
from core.entrypoints.console.pages.knowledge.versions import because, version_rows
from core.entrypoints.console.parts.dialogs import ask
from core.entrypoints.console.parts.lists import badge, listed
from core.entrypoints.console.parts.markup import address, el, join, link, show
from core.entrypoints.console.parts.named import kind, moment, reach_text
from core.entrypoints.console.parts.problem import notify_done, notify_failures
from core.entrypoints.console.visit import Visit
from core.entrypoints.service.items import Known, KnownFile, Part, Provenance, Source, Versions
from core.entrypoints.service.knowledge import KnowledgeService


def provenance_parts(visit: Visit, traced: Provenance) -> Iterator[Markup]:
    """Draw a text or a table, and beside each part its origin."""
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


PATH = "/console/knowledge/item"
LIST = "/console/knowledge"
_NUMBER = re.compile(r"[0-9]{1,9}")


@dataclass(frozen=True)
class _Location:
    """Which item is shown, as the URL names it."""

    id: str
    kind: Kind
    tenant: str | None
    version: int | None
    path: str | None

    def address(self, *, version: int | None = None, path: str | None = None) -> str:
        """Return the URL of another version, or of another file of it."""
        number = str(version) if version is not None else None
        return address(
            PATH, kind=self.kind.value, tenant=self.tenant, id=self.id, version=number, path=path
        )


async def build(visit: Visit) -> None:
    """Draw the page, and again after a version was restored."""
    location, service = _location(visit), KnowledgeService(visit.session)
    show(link(visit.say("frame.knowledge"), LIST), tag="p")
    drawn, dialogs = ui.element("div"), ui.element("div")

    async def draw(location: _Location) -> None:
        versions = await service.versions(
            location.id, kind=location.kind, tenant_id=location.tenant
        )
        drawn.clear()
        with drawn:
            await _item(visit, service, location, versions, dialogs)
            if location.kind is Kind.SKILL and location.version is None:
                await holders.draw(versions.tenant_id)
            _restoring(visit, service, location, versions, dialogs, restored)

    holders = SkillHolders(visit, location.id, dialogs, lambda: draw(location))

    async def restored() -> None:
        ui.navigate.history.replace(current.address())
        await draw(current)

    current = replace(location, version=None, path=None)
    await draw(location)


async def _item(
    visit: Visit,
    service: KnowledgeService,
    location: _Location,
    versions: Versions,
    dialogs: ui.element,
) -> None:
    """Draw the item; of a deleted one only its versions."""
    try:
        known = await service.get(
            location.id, kind=location.kind, tenant_id=location.tenant, version=location.version
        )
    except NotFound:
        name = versions.items[0].name if versions.items else location.id
        show(el("h1", name))
        key = "knowledge.deleted" if location.version is None else "knowledge.no_version"
        show(el("p", visit.say(key), class_="banner warn"))
        if location.version is not None:
            show(link(visit.say("knowledge.to_current"), location.address()), tag="p")
    else:
        await _content(visit, service, location, known)
        if location.version is None:
            await ItemCases(visit, known.item, ui.element("div"), dialogs).draw()
    show(el("h2", visit.say("knowledge.versions")))
    show(version_rows(visit, versions, lambda number: location.address(version=number)))


def _location(visit: Visit) -> _Location:
    item_id, of, version = visit.query("id"), visit.query("kind"), visit.query("version")
    if item_id is None or of is None or not is_kind_name(of) or Kind(of) is Kind.AGENT_SKILLS:
        raise NotFound(Message("console.no_item"), hint=Message("console.hint_list"))
    if version is not None and not _NUMBER.fullmatch(version):
        raise InvalidInput(Message("console.no_version", text=version[:20]))
    number = int(version) if version is not None else None
    return _Location(item_id, Kind(of), visit.query("tenant"), number, visit.query("path"))


async def _content(
    visit: Visit, service: KnowledgeService, location: _Location, known: Known
) -> None:
    show(_head(visit, location, known))
    if known.files:
        show(_files(visit, location, known))
    if known.table_problem:
        said = visit.say("knowledge.table_problem", reason=visit.translated(known.table_problem))
        show(el("p", said, class_="banner warn"))
    if location.version is None:
        path = location.path if known.item.kind is Kind.SKILL else None
        traced = await service.provenance(
            location.id, kind=location.kind, tenant_id=location.tenant, path=path
        )
        key = "knowledge.table" if traced.table else "knowledge.content"
        show(el("h2", visit.say(key), f" · {path}" if path else None))
        show(join(provenance_parts(visit, traced)))
        return
    show(el("h2", visit.say("knowledge.plain")))
    show(el("div", await _text(service, location, known), class_="code"))


async def _text(service: KnowledgeService, location: _Location, known: Known) -> str:
    if location.path is None or location.path == SKILL_MD:
        return known.item.content
    file = await service.file(
        location.id, location.path, tenant_id=location.tenant, version=location.version
    )
    return file.text if file.text is not None else f"({file.size:,} B)"


def _head(visit: Visit, location: _Location, known: Known) -> Markup:
    item = known.item
    standing = visit.say("knowledge.version_of", version=item.version, versions=known.versions)
    holds = reach_text(visit, item.reach)
    agent = visit.agent(item.tenant_id, item.agent_id) if item.agent_id else ""
    ui.page_title(f"{item.name} · {visit.say('frame.knowledge')}")
    where = " · ".join(filter(None, (item.tenant_id, agent, holds)))
    back = None
    if location.version is not None and item.valid_to is not None:
        to = el("a", visit.say("knowledge.to_current"), href=location.address())
        back = el("p", visit.say("knowledge.looks_back"), " ", to, class_="banner")
    number = str(location.version) if location.version else None
    query = {
        "id": item.id,
        "kind": item.kind.value,
        "tenant_id": location.tenant,
        "version": number,
    }
    twin = address("/v1/knowledge/item", **query)
    return el(
        "div",
        el("span", kind(visit, item.kind), class_="muted"),
        el("h1", item.name),
        el(
            "p",
            el("span", where, class_="muted small"),
            el("span", standing, class_="muted small"),
            moment(visit, item.valid_from),
            el("a", visit.say("frame.as_json"), href=twin, class_="small"),
            class_="row",
        ),
        back,
    )


def _files(visit: Visit, location: _Location, known: Known) -> Markup:
    heads = ("knowledge.file", "knowledge.size", "")
    rows = [
        (
            el("a", file.path, href=location.address(version=location.version, path=file.path)),
            f"{file.size:,}",
            _marks(visit, file),
        )
        for file in known.files
    ]
    title = el("h2", visit.say("knowledge.files"))
    names = [visit.say(head) if head else "" for head in heads]
    return join([title, listed(names, rows, label=visit.say("knowledge.files"))])


def _marks(visit: Visit, file: KnownFile) -> Markup:
    marks = []
    if file.executable:
        marks.append(badge(visit.say("knowledge.executable"), "warning"))
    if not file.is_text:
        marks.append(badge(visit.say("knowledge.binary"), ""))
    return join(marks, " ")


def _restoring(
    visit: Visit,
    service: KnowledgeService,
    location: _Location,
    versions: Versions,
    dialogs: ui.element,
    after: Callable[[], Awaitable[None]],
) -> None:
    """Let reviewers restore an earlier version."""
    if Role.REVIEW not in visit.session.principal.roles:
        return
    earlier = [one.version for one in versions.items if one.version and one.valid_to is not None]
    if not earlier:
        return

    async def restore(number: int) -> None:
        with notify_failures(visit):
            done = await service.restore(
                location.id, number, kind=location.kind, tenant_id=location.tenant
            )
            notify_done(visit, "knowledge.restored", done, done.target_name or location.id)
            await after()

    def question() -> None:
        number = int(chooser.value)
        title = visit.say("knowledge.restore_title", version=number)
        dialogs.clear()
        with dialogs:  # redrawing deletes what is on the page itself
            ask(visit, title, visit.say("knowledge.restore"), lambda: restore(number)).open()

    with ui.row().classes("row restore"):
        chooser = ui.select(earlier, value=earlier[0], label=visit.say("knowledge.version"))
        chooser.props("dense outlined")
        ui.button(visit.say("knowledge.restore"), on_click=question).props("outline no-caps")
