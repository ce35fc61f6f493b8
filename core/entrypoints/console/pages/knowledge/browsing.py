"""Browsing what is known: by kind, by agent, by words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from markupsafe import Markup
from nicegui import ui

from core.domain.errors import InvalidInput
from core.domain.messages import Message
from core.domain.models import Hit, Kind, Reach
from core.domain.models.cases import CaseCounts
from core.domain.models.views import KnowledgeFilter, Listed
from core.entrypoints.console.pages.cases.rows import count_badges
from core.entrypoints.console.pages.knowledge.lists import agents_list
from core.entrypoints.console.parts.lists import badge, chip, empty, listed, pages, twin
from core.entrypoints.console.parts.markup import Part, address, el, join, link, show
from core.entrypoints.console.parts.named import kind, moment, reach_text
from core.entrypoints.console.parts.navigation import go_to
from core.entrypoints.console.parts.tenants import tenant_chips, tenant_of
from core.entrypoints.console.visit import Visit
from core.entrypoints.service.cases import CasesService
from core.entrypoints.service.items import Found
from core.entrypoints.service.knowledge import KnowledgeService
from core.entrypoints.service.search import SearchService

PATH = "/console/knowledge"
ITEM = "/console/knowledge/item"
_PAGE = 50
_HITS = 30
REVIEW = "/console/review"
_FILTERS = ("q", "kind", "agent", "tenant", "state")
_ARCHIVED = "archived"


async def build(visit: Visit) -> None:
    """Draw the page: what was searched for, else everything."""
    given = {name: visit.query(name) for name in _FILTERS}
    kinds = await visit.session.app.item_kinds()
    of = _kind(given["kind"], kinds)
    if given["state"] not in {None, _ARCHIVED}:
        raise InvalidInput(Message("console.no_item_state", text=given["state"]))
    show(el("h1", visit.say("frame.knowledge")))
    _fields(visit, given)
    show(
        el("nav", *_chips(visit, given, kinds), class_="chips", aria_label=visit.say("common.kind"))
    )
    if given["agent"]:
        await agents_list(visit, given["agent"], given["tenant"])
    if given["q"]:
        await _search(visit, given["q"], given, of)
    else:
        await _browse(visit, given, of)


def _kind(text: str | None, kinds: Sequence[Kind]) -> Kind | None:
    if text is None:
        return None
    if text not in kinds:
        raise InvalidInput(Message("console.no_kind", text=text))
    return Kind(text)


def _fields(visit: Visit, given: Mapping[str, str | None]) -> None:
    def go(name: str, value: object) -> None:
        go_to(address(PATH, **{**given, name: str(value or "").strip() or None}))

    with ui.row().classes("row fields"):
        query = ui.input(visit.say("knowledge.search"), value=given["q"] or "")
        query.props("dense outlined clearable autofocus").classes("search")
        query.on("keydown.enter", lambda: go("q", query.value))
        query.on("clear", lambda: go("q", None))
        agent = ui.input(visit.say("common.agent"), value=given["agent"] or "")
        agent.props("dense outlined").on("change", lambda: go("agent", agent.value))


def _chips(visit: Visit, given: Mapping[str, str | None], kinds: Sequence[Kind]) -> list[Markup]:
    chips = []
    for of in (None, *kinds):
        here = given["kind"] == (of.value if of else None) and not given["state"]
        to = address(PATH, **{**given, "kind": of.value if of else None, "state": None})
        text = kind(visit, of) if of else visit.say("frame.all")
        chips.append(chip(text, to, here=here))
    to = address(PATH, agent=given["agent"], tenant=given["tenant"], state=_ARCHIVED)
    chips.append(chip(visit.say("knowledge.archived"), to, here=given["state"] == _ARCHIVED))
    return chips


async def _browse(visit: Visit, given: Mapping[str, str | None], of: Kind | None) -> None:
    is_archived = given["state"] == _ARCHIVED
    wanted = KnowledgeFilter(
        tenant_id=given["tenant"], agent_id=given["agent"], kind=of, archived=is_archived
    )
    service = KnowledgeService(visit.session)
    cursor = visit.query("cursor")
    page = await service.page(wanted, cursor=cursor, limit=_PAGE)
    _warn(visit, page.warnings)
    if page.items:
        show(_rows(visit, page.items))
    elif is_archived:
        show(empty(visit.say("knowledge.none_archived"), visit.say("knowledge.archived_hint")))
    elif any(given.values()):
        show(empty(visit.say("knowledge.no_match"), link(visit.say("knowledge.show_all"), PATH)))
    else:
        show(empty(visit.say("knowledge.nothing"), visit.say("knowledge.nothing_hint")))
    more = pages(visit, PATH, page.next, **given)
    if more:
        show(more)
    scope = {"tenant_id": given["tenant"], "agent_id": given["agent"], "kind": given["kind"]}
    scope |= {"archived": "true"} if is_archived else {}
    show(twin(visit, "/v1/knowledge", **scope, cursor=cursor, limit=str(_PAGE)))


def _whose(visit: Visit, item: Listed) -> str:
    agent = visit.agent(item.tenant_id, item.agent_id) if item.agent_id else None
    return " · ".join(filter(None, (agent, item.tenant_id, _reach(visit, item))))


def _rows(visit: Visit, items: Sequence[Listed]) -> Markup:
    say = visit.say
    heads = ("common.kind", "common.name", "knowledge.excerpt", "common.agent", "knowledge.since")
    return listed(
        [say(head) for head in heads],
        [
            (
                kind(visit, item.kind),
                join(
                    [
                        _named(item),
                        count_badges(visit, item.cases),
                    ],
                    " ",
                ),
                el("span", item.excerpt, class_="clamp small"),
                _whose(visit, item),
                _when(visit, item),
            )
            for item in items
        ],
        label=say("frame.knowledge"),
    )


def _named(item: Listed) -> Markup:
    """Return a link to an item, or, if it is put away, to the change that can be reverted."""
    if item.archived_at is None:
        return _item(item.kind, item.tenant_id, item.id, item.name)
    return el("a", item.name, href=address(REVIEW, id=item.change_id))


def _when(visit: Visit, item: Listed) -> Part:
    if item.archived_at is None:
        return moment(visit, item.valid_from)
    return join(
        [badge(visit.say("knowledge.archived"), _ARCHIVED), moment(visit, item.archived_at)], " "
    )


async def _search(
    visit: Visit, query: str, given: Mapping[str, str | None], of: Kind | None
) -> None:
    tenant = await tenant_of(visit)
    chips = await tenant_chips(visit, PATH, tenant)
    if chips:
        show(chips)
    if tenant is None and given["agent"] is None:
        show(empty(visit.say("knowledge.one_tenant")))
        return
    found = await SearchService(visit.session).search(
        query, tenant_id=tenant, agent_id=given["agent"], kind=of, limit=_HITS
    )
    _warn(visit, found.warnings)
    if found.items:
        show(_hits(visit, found, await _counts(visit, found)))
    else:
        show(empty(visit.say("knowledge.no_match"), link(visit.say("knowledge.show_all"), PATH)))
    scope = {"tenant_id": tenant, "agent_id": given["agent"], "kind": given["kind"]}
    show(twin(visit, "/v1/search", q=query, **scope, limit=str(_HITS)))


async def _counts(visit: Visit, found: Found) -> Sequence[CaseCounts]:
    """Return the counts of cases of each hit."""
    keys = [(found.tenant_id, hit.kind, hit.id) for hit in found.items]
    counts = await CasesService(visit.session).counts(keys)
    return [counts.get(key, CaseCounts()) for key in keys]


def _hits(visit: Visit, found: Found, counts: Sequence[CaseCounts]) -> Markup:
    say = visit.say
    heads = ("common.kind", "common.name", "knowledge.excerpt", "knowledge.why", "knowledge.score")
    return listed(
        [say(head) for head in heads],
        [
            (
                kind(visit, hit.kind),
                join([_item(hit.kind, found.tenant_id, hit.id, hit.name), proof], " "),
                join([el("span", hit.excerpt, class_="clamp small"), _reach_note(visit, hit)]),
                el("span", visit.translated(hit.why), class_="small muted"),
                f"{hit.score:.0%}",
            )
            for hit, proof in zip(
                found.items, (count_badges(visit, one) for one in counts), strict=True
            )
        ],
        label=say("knowledge.search"),
    )


def _reach(visit: Visit, item: Listed | Hit) -> str:
    reach = Reach(valid_until=item.valid_until, scope=item.scope, user=item.user)
    return reach_text(visit, reach)


def _reach_note(visit: Visit, item: Hit) -> Markup | None:
    told = _reach(visit, item)
    return el("div", told, class_="small muted") if told else None


def _item(of: Kind, tenant: str | None, item_id: str, name: str) -> Markup:
    return el("a", name, href=address(ITEM, kind=of.value, tenant=tenant, id=item_id))


def _warn(visit: Visit, warnings: Sequence[str]) -> None:
    for warning in warnings:
        show(el("p", visit.translated(warning), class_="banner warn"))
