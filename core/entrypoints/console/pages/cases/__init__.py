"""Cases: what must stay true of what was learnt, what fails, and what the gate stopped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from markupsafe import Markup
from nicegui import ui

from core.domain.errors import InvalidInput
from core.domain.messages import Message
from core.domain.models import Kind
from core.domain.models.case_figures import CasesOverview
from core.domain.models.cases import CaseCounts, CaseFilter, CaseStatus
from core.entrypoints.console.pages.cases.rows import PATH, case_table, coverage_lines
from core.entrypoints.console.parts.charts import axis, bar, chart, frame
from core.entrypoints.console.parts.lists import chip, empty, pages, twin
from core.entrypoints.console.parts.markup import address, el, join, link, show
from core.entrypoints.console.parts.named import kind
from core.entrypoints.console.parts.navigation import go_to
from core.entrypoints.console.parts.tenants import named_tenant, tenant_chips
from core.entrypoints.console.site import Site
from core.entrypoints.console.visit import Visit
from core.entrypoints.service.cases import CasesService

_PAGE = 50
_FILTERS = ("tenant", "agent", "kind", "status", "item")
_GOOD, _PLAIN, _WARN, _BAD, _LINE = "#2c9a67", "#8b95a5", "#c98a2b", "#d0605b", "#3f7fd8"


def add(site: Site) -> None:
    """Register the page on the site."""
    site.page("/cases", "cases", build)


async def build(visit: Visit) -> None:
    """Draw the page."""
    given = {name: visit.query(name) for name in _FILTERS}
    tenant, kinds = await named_tenant(visit), await visit.session.app.item_kinds()
    wanted = _filter(given, tenant, kinds)
    service, cursor = CasesService(visit.session), visit.query("cursor")
    page = await service.page(wanted, limit=_PAGE, cursor=cursor)
    seen = await service.overview(wanted)
    show(el("h1", visit.say("frame.cases")))
    chips = await tenant_chips(visit, PATH, tenant)
    if chips:
        show(chips)
    if given["item"] is None:
        with ui.element("div").classes("charts"):
            chart(visit.say("cases.weeks"), _weeks(visit, seen))
    show(el("h2", visit.say("cases.list")))
    _filters(visit, given, kinds, seen.counts)
    if page.items:
        show(case_table(visit, page.items))
        show(join(coverage_lines(visit, page.coverage)))
    elif any(given.values()):
        show(empty(visit.say("cases.no_match"), link(visit.say("cases.show_all"), PATH)))
    else:
        show(empty(visit.say("cases.nothing"), visit.say("cases.nothing_hint")))
    more = pages(visit, PATH, page.next, **given)
    if more:
        show(more)
    of = {"agent_id": given["agent"], "kind": given["kind"], "status": given["status"]}
    of |= {"tenant_id": tenant, "item_id": given["item"]}
    show(twin(visit, "/v1/cases", **of, cursor=cursor, limit=str(_PAGE)))


def _filter(
    given: Mapping[str, str | None], tenant: str | None, kinds: Sequence[Kind]
) -> CaseFilter:
    state, of = given["status"], given["kind"]
    if state is not None and state not in set(CaseStatus):
        raise InvalidInput(Message("console.no_case_list", text=state, lists=", ".join(CaseStatus)))
    if of is not None and of not in kinds:
        raise InvalidInput(Message("console.no_kind", text=of))
    return CaseFilter(
        tenant_id=tenant,
        agent_id=given["agent"],
        item_id=given["item"],
        kind=Kind(of) if of else None,
        status=CaseStatus(state) if state else None,
    )


def _filters(
    visit: Visit, given: Mapping[str, str | None], kinds: Sequence[Kind], counts: CaseCounts
) -> None:
    """Draw statuses and kinds as links, and the agent as a field that leads to a new URL."""
    numbers = counts.model_dump()

    def linked(name: str, value: str | None, text: str) -> Markup:
        return chip(text, address(PATH, **{**given, name: value}), here=given[name] == value)

    states = [linked("status", None, visit.say("frame.all"))]
    states += [
        linked("status", one.value, visit.say(f"cases.n_{one.value}", n=numbers[one.value]))
        for one in CaseStatus
    ]
    of_kinds = [linked("kind", None, visit.say("frame.all"))]
    of_kinds += [linked("kind", one.value, kind(visit, one)) for one in kinds]
    show(el("nav", *states, class_="chips", aria_label=visit.say("common.status")))
    show(el("nav", *of_kinds, class_="chips", aria_label=visit.say("common.kind")))
    with ui.row().classes("row fields"):
        agent = ui.input(visit.say("common.agent"), value=given["agent"] or "")
        agent.props("dense outlined")
        agent.on("change", lambda: go_to(_of_agent(given, str(agent.value or ""))))


def _of_agent(given: Mapping[str, str | None], agent: str) -> str:
    return address(PATH, **{**given, "agent": agent.strip() or None})


def _weeks(visit: Visit, seen: CasesOverview) -> dict[str, object]:
    """Return the chart of what came through and what was stopped, by week."""
    say, weeks = visit.say, seen.weeks
    bars = [
        bar(say("cases.proved"), _GOOD, [one.proved for one in weeks]),
        bar(say("cases.unproved_changes"), _PLAIN, [one.applied - one.proved for one in weeks]),
        bar(say("cases.refused"), _BAD, [one.refused for one in weeks]),
        bar(say("cases.held"), _WARN, [one.held for one in weeks]),
    ]
    line = {
        "type": "line",
        "name": say("cases.turned_red"),
        "data": [one.red for one in weeks],
        "itemStyle": {"color": _LINE},
    }
    names = [f"{one.week:%m-%d}" for one in weeks]
    return {**frame(names), "yAxis": [axis()], "series": [*bars, line]}
