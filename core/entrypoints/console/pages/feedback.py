"""Feedback: what was said and its state, with filters that live in the URL."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta, tzinfo

from markupsafe import Markup
from nicegui import ui

from core.domain.errors import BudgetUsedUp, InvalidInput
from core.domain.messages import Message
from core.domain.models import Feedback, FeedbackFilter, FeedbackStatus, Pause, PauseKind
from core.domain.models.access import Role
from core.entrypoints.console.parts.dialogs import ask_reason
from core.entrypoints.console.parts.lists import chip, empty, listed, pages, twin
from core.entrypoints.console.parts.markup import address, el, link, show
from core.entrypoints.console.parts.named import moment, status
from core.entrypoints.console.parts.navigation import go_to
from core.entrypoints.console.parts.problem import notify_failures
from core.entrypoints.console.site import Site
from core.entrypoints.console.visit import Visit
from core.entrypoints.service.feedback import FeedbackService
from core.entrypoints.service.work import WorkService

PATH = "/console/feedback"
RUN = "/console/feedback/run"
_PAGE = 50
_FILTERS = ("status", "agent", "tenant", "since", "until", "text")
_DAY = timedelta(days=1)
_BUDGET = f"{BudgetUsedUp.kind}:"  # how the error of such a piece begins, as of any kind


def add(site: Site) -> None:
    """Register the page on the site."""
    site.page("/feedback", "feedback", build)


async def build(visit: Visit) -> None:
    """Draw the page."""
    given = {name: visit.query(name) for name in _FILTERS}
    wanted = _filter(given, visit.zone)
    cursor = visit.query("cursor")
    page = await FeedbackService(visit.session).page(wanted, limit=_PAGE, cursor=cursor)
    show(el("h1", visit.say("frame.feedback")))
    _pause_banner(visit, (await WorkService(visit.session).state()).hold)
    _filters(visit, given)
    if page.items:
        show(_list(visit, page.items))
        more = pages(visit, PATH, page.next, **given)
        if more:
            show(more)
    elif any(given.values()) or cursor:
        hint = link(visit.say("feedback.no_match_hint"), PATH)
        show(empty(visit.say("feedback.no_match"), hint))
    else:
        show(empty(visit.say("feedback.nothing"), visit.say("feedback.nothing_hint")))
    show(_twin(visit, wanted, cursor))


def _twin(visit: Visit, wanted: FeedbackFilter, cursor: str | None) -> Markup:
    return twin(
        visit,
        "/v1/feedback",
        status=next((status.value for status in wanted.statuses), None),
        tenant_id=wanted.tenant_id,
        agent_id=wanted.agent_id,
        since=wanted.since.isoformat() if wanted.since else None,
        until=wanted.until.isoformat() if wanted.until else None,
        text=wanted.text,
        cursor=cursor,
        limit=str(_PAGE),
    )


def _filter(given: Mapping[str, str | None], zone: tzinfo) -> FeedbackFilter:
    wanted = given["status"]
    if wanted is not None and wanted not in set(FeedbackStatus):
        raise InvalidInput(Message("console.no_feedback_state", text=wanted))
    return FeedbackFilter(
        statuses=(FeedbackStatus(wanted),) if wanted else (),
        tenant_id=given["tenant"],
        agent_id=given["agent"],
        since=_day(given["since"], zone),
        until=_day(given["until"], zone, and_then=_DAY),  # the day itself is included
        text=given["text"],
    )


def _day(text: str | None, zone: tzinfo, *, and_then: timedelta = timedelta()) -> datetime | None:
    if text is None:
        return None
    try:
        return datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=zone) + and_then
    except (ValueError, OverflowError):
        raise InvalidInput(
            Message("console.no_date", text=text),
            hint=Message("console.hint_date"),
        ) from None


def _pause_banner(visit: Visit, pause: Pause | None) -> None:
    """Draw what blocks work; those who operate all tenants may pause and resume."""
    principal = visit.session.principal
    may = Role.OPERATE in principal.roles and principal.tenant_id is None
    service = WorkService(visit.session)

    async def pause_intake(reason: str) -> None:
        with notify_failures(visit):
            await service.pause(reason)
            ui.navigate.reload()

    async def resume() -> None:
        with notify_failures(visit):
            await service.resume()
            ui.navigate.reload()

    with ui.row().classes("row spread"):
        if pause is not None:
            reason = visit.translated(pause.reason) or visit.say("feedback.no_reason")
            show(el("p", visit.say("feedback.paused", reason=reason), class_="banner warn"))
            if may and pause.kind is PauseKind.PAUSED:
                ui.button(visit.say("feedback.resume"), on_click=resume).props("outline no-caps")
        elif may:
            say = visit.say
            dialog = ask_reason(
                visit, say("feedback.pause_title"), say("feedback.pause"), pause_intake
            )
            ui.button(say("feedback.pause"), on_click=dialog.open).props("flat no-caps")


def _filters(visit: Visit, given: Mapping[str, str | None]) -> None:
    """Draw the states as links, and the other filters as fields that lead to a new URL."""
    others = {name: value for name, value in given.items() if name != "status"}
    chips = [_chip(visit.say("frame.all"), None, given["status"], others)]
    chips += [
        _chip(visit.say(f"common.{state.value}"), state.value, given["status"], others)
        for state in FeedbackStatus
    ]
    show(el("nav", *chips, class_="chips", aria_label=visit.say("common.status")))

    def go(name: str, value: object) -> None:
        changed = {**given, name: str(value or "").strip() or None}
        go_to(address(PATH, **changed))

    fields = {
        "text": visit.say("feedback.search"),
        "agent": visit.say("common.agent"),
        "since": visit.say("feedback.from"),
        "until": visit.say("feedback.until"),
    }
    if visit.session.principal.tenant_id is None:
        fields["tenant"] = visit.say("common.tenant")
    with ui.row().classes("row fields"):
        for name, label in fields.items():
            _field(name, label, given[name], go)


def _field(name: str, label: str, value: str | None, go: Callable[[str, object], None]) -> None:
    field = ui.input(label, value=value or "").props("dense outlined")
    if name in {"since", "until"}:
        field.props("type=date stack-label")
    field.on("change", lambda: go(name, field.value))


def _chip(
    text: str, state: str | None, chosen: str | None, others: Mapping[str, str | None]
) -> Markup:
    return chip(text, address(PATH, **{**others, "status": state}), here=state == chosen)


def _list(visit: Visit, pieces: Sequence[Feedback]) -> Markup:
    say = visit.say
    heads = ("common.when", "common.status", "feedback.content", "common.agents", "common.author")
    return listed(
        [say(head) for head in heads],
        [
            (
                moment(visit, piece.created_at),
                _state(visit, piece),
                el("a", piece.content, href=address(RUN, id=piece.id), class_="clamp"),
                ", ".join(visit.agent(piece.tenant_id, one) for one in piece.agent_ids),
                piece.author or "",
            )
            for piece in pieces
        ],
        label=say("frame.feedback"),
    )


def _state(visit: Visit, piece: Feedback) -> Markup:
    due = None
    if piece.status is FeedbackStatus.QUEUED and piece.retry_at is not None:
        due = visit.say("feedback.retry_due", when=visit.ago(piece.retry_at))
        if piece.error and piece.error.startswith(_BUDGET):
            due = f"{visit.say('feedback.at_budget')} · {due}"
    error = visit.translated(piece.error or "")
    why = due or error
    told_why = el("div", why, class_="muted small clamp", title=error) if why else None
    return el("div", status(visit, piece.status), told_why)
