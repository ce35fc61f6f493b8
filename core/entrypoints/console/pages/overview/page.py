"""The overview while it is open: elements stay, and their figures are refreshed."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import datetime

from markupsafe import Markup
from nicegui import ui

from core.domain.errors import DatabaseDown
from core.domain.models.views import Overview
from core.entrypoints.console.pages.overview.charts import ended_options, spent_options
from core.entrypoints.console.pages.overview.figures import figures, strip
from core.entrypoints.console.pages.overview.tables import outcomes, workers
from core.entrypoints.console.parts.lists import empty, twin
from core.entrypoints.console.parts.markup import el, show
from core.entrypoints.console.parts.problem import notify_failures
from core.entrypoints.console.parts.tenants import named_tenant, tenant_chips
from core.entrypoints.console.visit import Visit
from core.entrypoints.service.overview import OverviewService

PATH = "/console/"
LOOK_SECONDS = 5.0
PATIENCE_SECONDS = 3.0  # after which old figures are shown with their age


async def build(visit: Visit) -> None:
    """Draw the page, and refresh it every few seconds."""
    tenant = await named_tenant(visit)
    seen = await OverviewService(visit.session).overview(tenant)
    show(el("h1", visit.say("frame.overview")))
    chips = await tenant_chips(visit, PATH, tenant)
    if chips:
        show(chips)
    page = _Overview(visit, tenant, _draw(visit, seen))
    ui.timer(LOOK_SECONDS, page.refresh)


@dataclass
class _Drawn:
    """The elements whose figures change, and the time of those figures."""

    at: datetime
    late: ui.html
    strip: ui.html
    figures: ui.html
    today: ui.echart
    month: ui.echart
    spent: ui.echart
    outcomes: ui.html
    workers: ui.html
    first: ui.html


def _draw(visit: Visit, seen: Overview) -> _Drawn:
    say = visit.say
    late = show(Markup())
    top, cards = show(strip(visit, seen)), show(figures(visit, seen))
    first = show(_first(visit, seen))
    with ui.element("div").classes("charts"):
        today = _chart(say("overview.today"), ended_options(visit, seen.today))
        month = _chart(say("overview.month"), ended_options(visit, seen.month))
        spent = _chart(say("overview.spending"), spent_options(visit, seen))
    changed = show(outcomes(visit, seen))
    seen_workers = show(workers(visit, seen))
    show(twin(visit, "/v1/overview", tenant_id=seen.tenant_id))
    return _Drawn(seen.at, late, top, cards, today, month, spent, changed, seen_workers, first)


def _late(visit: Visit, at: datetime) -> Markup:
    """Draw how old the figures are, while no newer ones are available."""
    words = visit.say("overview.no_answer", age=visit.ago(at))
    return el("p", words, class_="banner bad", role="alert")


def _first(visit: Visit, seen: Overview) -> Markup:
    """Draw how to begin, as long as there is no feedback."""
    if any(seen.standing.counts.values()) or seen.ended_last_hour:
        return Markup()
    return empty(visit.say("overview.first_title"), visit.say("overview.first_hint"))


def _chart(title: str, options: dict[str, object]) -> ui.echart:
    with ui.element("section").classes("card"):
        show(el("h3", title))
        return ui.echart(options).classes("chart").props(f'role=img aria-label="{title}"')


@dataclass(frozen=True)
class _Overview:
    """The page as it is open in one browser."""

    visit: Visit
    tenant: str | None
    drawn: _Drawn

    async def refresh(self) -> None:
        """Refresh the figures."""
        drawn, visit = self.drawn, self.visit
        with notify_failures(visit):
            try:
                async with asyncio.timeout(PATIENCE_SECONDS):
                    seen = await OverviewService(visit.session).overview(self.tenant)
            except (TimeoutError, DatabaseDown):
                drawn.late.set_content(str(_late(visit, drawn.at)))
                return
            drawn.late.set_content("")
            drawn.at = seen.at
            for element, markup in (
                (drawn.strip, strip(visit, seen)),
                (drawn.figures, figures(visit, seen)),
                (drawn.first, _first(visit, seen)),
                (drawn.outcomes, outcomes(visit, seen)),
                (drawn.workers, workers(visit, seen)),
            ):
                element.set_content(str(markup))
            for chart, options in (
                (drawn.today, ended_options(visit, seen.today)),
                (drawn.month, ended_options(visit, seen.month)),
                (drawn.spent, spent_options(visit, seen)),
            ):
                chart.options.update(options)
                chart.update()
