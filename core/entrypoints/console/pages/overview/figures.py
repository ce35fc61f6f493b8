"""The first glance: the health state, what blocks work, and the figures that matter."""

from __future__ import annotations

from collections.abc import Iterator

from markupsafe import Markup

from core.domain.models import NO_USAGE, FeedbackStatus, PauseKind
from core.domain.models.views import Overview, Word
from core.entrypoints.console.language import words
from core.entrypoints.console.parts.lists import badge
from core.entrypoints.console.parts.markup import address, el, join
from core.entrypoints.console.parts.named import moment
from core.entrypoints.console.visit import Visit

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
    return visit.say("overview.as_of", when=seen.at.strftime("%H:%M:%S"))


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
