"""The overview: is it idle, busy, stuck or failing, and what came of what users said."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from markupsafe import Markup
from nicegui import ui

from core.domain.errors import DatabaseDown
from core.domain.models import NO_USAGE, ChangeStatus, FeedbackStatus, Kind, Operation, PauseKind
from core.domain.models.views import EndedSeries, OutcomeCount, Overview, Word, WorkerSeen
from core.entrypoints.console.language import words
from core.entrypoints.console.parts.charts import axis, bar, chart, frame
from core.entrypoints.console.parts.lists import badge, empty, listed, twin
from core.entrypoints.console.parts.markup import Part, address, el, join, show
from core.entrypoints.console.parts.named import kind, moment, operation, status
from core.entrypoints.console.parts.problem import notify_failures
from core.entrypoints.console.parts.tenants import named_tenant, tenant_chips
from core.entrypoints.console.site import Site
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
        today = chart(say("overview.today"), ended_options(visit, seen.today))
        month = chart(say("overview.month"), ended_options(visit, seen.month))
        spent = chart(say("overview.spending"), spent_options(visit, seen))
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
            for plot, options in (
                (drawn.today, ended_options(visit, seen.today)),
                (drawn.month, ended_options(visit, seen.month)),
                (drawn.spent, spent_options(visit, seen)),
            ):
                plot.options.update(options)
                plot.update()


def outcomes(visit: Visit, seen: Overview) -> Markup:
    """Draw the outcomes of changes: a row per kind and operation, for a day and for 30 days."""
    title = el("h2", visit.say("overview.outcomes"))
    if not seen.outcomes:
        return join([title, el("p", visit.say("overview.no_outcomes"), class_="muted")])
    by_what: defaultdict[tuple[Kind, Operation], list[OutcomeCount]] = defaultdict(list)
    for one in seen.outcomes:
        by_what[one.kind, one.operation].append(one)
    rows = [
        (
            f"{kind(visit, what[0])} · {operation(visit, what[1])}",
            join([_counted(visit, one.status, one.day) for one in counts if one.day], " "),
            join([_counted(visit, one.status, one.month) for one in counts], " "),
        )
        for what, counts in sorted(by_what.items())
    ]
    heads = ("overview.what", "overview.day", "overview.month_count")
    names = [visit.say(head) for head in heads]
    return join([title, listed(names, rows, label=visit.say("overview.outcomes"))])


def _counted(visit: Visit, of: ChangeStatus, number: int) -> Markup:
    to = address("/console/changes", status=of.value)
    return el("a", status(visit, of), f" {number:,} ", href=to)


def workers(visit: Visit, seen: Overview) -> Markup:
    """Draw the workers with their last signs of life."""
    title = el("h2", visit.say("overview.workers"))
    if not seen.workers:
        return join([title, el("p", visit.say("overview.no_workers"), class_="muted")])
    heads = ("overview.worker", "common.status", "overview.heartbeat", "overview.works_on")
    names = [visit.say(head) for head in (*heads, "overview.started")]
    rows = [_worker(visit, one) for one in seen.workers]
    return join([title, listed(names, rows, label=visit.say("overview.workers"))])


def _worker(visit: Visit, one: WorkerSeen) -> tuple[Part, ...]:
    state = "alive" if one.is_alive else "silent"
    slots = str(one.working)
    if one.concurrency is not None:
        slots = visit.say("overview.of_places", working=one.working, concurrency=one.concurrency)
    pieces = [
        el("a", "●", href=address("/console/feedback/run", id=piece), title=piece)
        for piece in one.feedback_ids
    ]
    return (
        one.name or f"#{one.id}",
        badge(visit.say(f"overview.{state}"), state),
        moment(visit, one.last_heartbeat),
        el("span", slots, " ", join(pieces, " ")),
        moment(visit, one.started_at),
    )


_COLOURS = {
    FeedbackStatus.COMPLETED: "#2c9a67",
    FeedbackStatus.HELD: "#c98a2b",
    FeedbackStatus.NO_ACTION: "#8b95a5",
    FeedbackStatus.FAILED: "#d0605b",
    FeedbackStatus.DEAD: "#8f2f2b",
    FeedbackStatus.CANCELLED: "#5f6b7c",
}
_DAY = 86_400


def ended_options(visit: Visit, series: EndedSeries) -> dict[str, object]:
    """Return the chart of what ended in each step, stacked by outcome."""
    form = "%m-%d" if series.step_seconds >= _DAY else "%H:%M"
    is_daily = series.step_seconds >= _DAY  # days are counted in UTC
    times = [
        (bucket.at if is_daily else bucket.at.astimezone(visit.zone)).strftime(form)
        for bucket in series.buckets
    ]
    bars = [
        bar(
            visit.say(f"common.{status.value}"),
            colour,
            [bucket.by_status.get(status, 0) for bucket in series.buckets],
        )
        for status, colour in _COLOURS.items()
    ]
    return {**frame(times), "yAxis": [axis()], "series": bars}


def spent_options(visit: Visit, seen: Overview) -> dict[str, object]:
    """Return the chart of tokens as bars and money as a line, by day."""
    days = [*reversed(seen.spent)]
    tokens = [one.usage.input_tokens + one.usage.output_tokens for one in days]
    money = [float(one.usage.cost) for one in days]
    line = {
        "type": "line",
        "name": visit.say("overview.cost", currency=seen.currency),
        "data": money,
        "yAxisIndex": 1,
        "itemStyle": {"color": "#c98a2b"},
    }
    return {
        **frame([one.day.strftime("%m-%d") for one in days]),
        "yAxis": [axis(), {**axis(), "splitLine": {"show": False}}],
        "series": [bar(visit.say("overview.tokens"), "#3f7fd8", tokens), line],
    }


PAUSED = "paused"
_TONES = {
    Word.IDLE: "ok",
    Word.BUSY: "busy",
    Word.HELD_BACK: "held",
    Word.STUCK: "stuck",
    Word.FAILING: "failed",
    PAUSED: "paused",
}
_STATES = {"ok": "ok", "unknown": ""}


def strip(visit: Visit, seen: Overview) -> Markup:
    """Draw the health state with the reason, and what blocks work."""
    word = _word(seen)
    checks = [_check(visit, name, state) for name, state in seen.checks.items()]
    return el(
        "section",
        el(
            "div",
            el("span", badge(visit.say(f"overview.{word}"), _TONES[word]), class_="word"),
            el("span", _reason(visit, seen, word)),
            el("span", _as_of(visit, seen), class_="muted small"),
            class_="row",
        ),
        el("div", *checks, class_="row", aria_label=visit.say("overview.checks")),
        join(_pauses(visit, seen)),
        class_="card strip",
        role="status",
    )


def _word(seen: Overview) -> str:
    """Return the health state; if people paused work, and nothing else is wrong, it is that."""
    paused = any(pause.kind is PauseKind.PAUSED for pause in seen.holds)
    alive = not seen.workers or any(one.is_alive for one in seen.workers)
    well = seen.condition.word is not Word.FAILING and alive
    return PAUSED if paused and well else seen.condition.word.value


def _as_of(visit: Visit, seen: Overview) -> str:
    return visit.say("overview.as_of", when=f"{seen.at.astimezone(visit.zone):%H:%M:%S %Z}")


def _reason(visit: Visit, seen: Overview, word: str) -> str:
    """Return the reason; for rare states in the program's own words."""
    counts = seen.standing.counts
    if word == PAUSED:
        return ""  # what blocks work is shown below
    if word == Word.HELD_BACK:
        return visit.say("overview.held_back_why")
    if seen.holds or word in {Word.STUCK, Word.FAILING}:
        return visit.translated(seen.condition.reason)
    if word == Word.IDLE:
        return visit.say("overview.idle_why")
    return visit.say(
        "overview.busy_why",
        processing=counts.get(FeedbackStatus.PROCESSING, 0),
        queued=counts.get(FeedbackStatus.QUEUED, 0),
    )


def _check(visit: Visit, name: str, state: str) -> Markup:
    title = visit.say(f"overview.{name}") if name in words("overview") else name
    shown = visit.say(f"overview.{state}") if state in _STATES else state
    return badge(f"{title}: {shown}", _STATES.get(state, "failed"))


def _pauses(visit: Visit, seen: Overview) -> Iterator[Markup]:
    for pause in seen.holds:
        kind = visit.say(f"overview.hold_{pause.kind.value}")
        shown = visit.say("overview.held", kind=kind, reason=visit.translated(pause.reason))
        yield el("p", shown, " ", moment(visit, pause.since), class_="banner warn")
    for one in seen.at_budget:
        shown = visit.say(
            "overview.at_budget",
            tenant=one.tenant_id,
            spent=one.spent,
            budget=one.budget,
            currency=seen.currency,
        )
        yield el("p", shown, class_="banner warn")


def figures(visit: Visit, seen: Overview) -> Markup:
    """Draw the cards."""
    say, counts = visit.say, seen.standing.counts
    today = next((one for one in seen.spent if one.day == seen.at.date()), None)
    usage = today.usage if today else NO_USAGE
    unpriced = today.unpriced_calls if today else 0
    tokens = usage.input_tokens + usage.output_tokens
    spent = say("overview.spent_of", tokens=f"{tokens:,}", calls=f"{usage.model_calls:,}")
    if unpriced:
        spent += f", {say('overview.unpriced', n=unpriced)}"
    queued = counts.get(FeedbackStatus.QUEUED, 0)
    waiting = seen.reviews.held + seen.reviews.stale
    cards = [
        _card(
            say("overview.queued"),
            f"{queued:,}",
            _oldest(visit, seen.standing.oldest_seconds if queued else 0),
            address("/console/feedback", status="queued"),
        ),
        _card(
            say("overview.processing"),
            f"{counts.get(FeedbackStatus.PROCESSING, 0):,}",
            "",
            address("/console/feedback", status="processing"),
        ),
        _card(
            say("overview.ended"),
            f"{seen.ended_last_hour:,}",
            say("overview.per_minute", n=f"{seen.ended_per_minute:g}"),
            "/console/feedback",
        ),
        _card(
            say("overview.reviews"),
            f"{waiting:,}",
            _oldest(visit, seen.reviews.oldest_seconds if waiting else 0),
            "/console/review",
        ),
        _card(say("overview.spent_today"), f"{usage.cost:.2f} {seen.currency}", spent, None),
    ]
    return el("div", *cards, class_="cards")


def _oldest(visit: Visit, seconds: float) -> str:
    return visit.say("overview.oldest", age=visit.lasting(seconds)) if seconds else ""


def _card(title: str, figure: str, below: str, to: str | None) -> Markup:
    return el(
        "div",
        el("div", el("a", title, href=to) if to else title, class_="muted small"),
        el("div", figure, class_="figure"),
        el("div", below, class_="muted small"),
        class_="card",
    )


def add(site: Site) -> None:
    """Register the page on the site."""
    site.page("/", "overview", build)
