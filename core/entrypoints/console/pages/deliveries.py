"""Deliveries: what goes out to hooks and others, how each attempt ended, and sending it again."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

from markupsafe import Markup
from nicegui import ui

from core.domain.errors import InvalidInput, NotFound
from core.domain.messages import Message
from core.domain.models.access import Role
from core.domain.models.deliveries import (
    Attempt,
    Delivered,
    Delivery,
    DeliveryFilter,
    DeliveryStatus,
)
from core.domain.ports.deliveries import BEFORE
from core.entrypoints.console.parts.dialogs import ask
from core.entrypoints.console.parts.lists import badge, chip, empty, listed, pages, twin
from core.entrypoints.console.parts.markup import Part, address, el, join, link, show
from core.entrypoints.console.parts.named import moment
from core.entrypoints.console.parts.navigation import go_to
from core.entrypoints.console.parts.problem import notify_failures
from core.entrypoints.console.site import Site
from core.entrypoints.console.visit import Visit
from core.entrypoints.service.deliveries import DeliveriesService

PATH = "/console/deliveries"
ONE = "/console/deliveries/one"
_RUN = "/console/feedback/run"
_REVIEW = "/console/review"
_PAGE = 50
_FILTERS = ("status", "target", "tenant")
_OWN_WORDS = {DeliveryStatus.WAITING, DeliveryStatus.DELIVERED, DeliveryStatus.SKIPPED}


def add(site: Site) -> None:
    """Register the pages on the site."""
    site.page("/deliveries", "deliveries", build)
    site.page("/deliveries/one", "deliveries", build_one)


async def build(visit: Visit) -> None:
    """Draw the list."""
    given = {name: visit.query(name) for name in _FILTERS}
    wanted, cursor = _filter(given), visit.query("cursor")
    page = await DeliveriesService(visit.session).page(wanted, limit=_PAGE, cursor=cursor)
    show(el("h1", visit.say("frame.deliveries")))
    _filters(visit, given)
    if page.items:
        show(_list(visit, page.items))
        more = pages(visit, PATH, page.next, **given)
        if more:
            show(more)
    elif any(given.values()) or cursor:
        hint = link(visit.say("deliveries.no_match_hint"), PATH)
        show(empty(visit.say("deliveries.no_match"), hint))
    else:
        show(empty(visit.say("deliveries.nothing"), visit.say("deliveries.nothing_hint")))
    query = {"status": given["status"], "target": wanted.target, "tenant_id": wanted.tenant_id}
    show(twin(visit, "/v1/deliveries", **query, cursor=cursor, limit=str(_PAGE)))


def _filter(given: Mapping[str, str | None]) -> DeliveryFilter:
    wanted = given["status"]
    if wanted is not None and wanted not in set(DeliveryStatus):
        raise InvalidInput(Message("console.no_delivery_state", text=wanted))
    return DeliveryFilter(
        statuses=(DeliveryStatus(wanted),) if wanted else (),
        tenant_id=given["tenant"],
        target=given["target"],
    )


def _filters(visit: Visit, given: Mapping[str, str | None]) -> None:
    """Draw the states as links, and the other filters as fields that lead to a new URL."""

    def state(text: str, value: str | None) -> Markup:
        return chip(
            text, address(PATH, **{**given, "status": value}), here=value == given["status"]
        )

    chips = [state(_word(visit, one), one.value) for one in DeliveryStatus]
    chips.insert(0, state(visit.say("frame.all"), None))
    show(el("nav", *chips, class_="chips", aria_label=visit.say("common.status")))
    fields = {"target": visit.say("deliveries.target")}
    if visit.session.principal.tenant_id is None:
        fields["tenant"] = visit.say("common.tenant")
    with ui.row().classes("row fields"):
        for name, label in fields.items():
            _field(name, label, given)


def _field(name: str, label: str, given: Mapping[str, str | None]) -> None:
    field = ui.input(label, value=given[name] or "").props("dense outlined")

    def changed() -> None:
        go_to(address(PATH, **{**given, name: str(field.value or "").strip() or None}))

    field.on("change", changed)


def _word(visit: Visit, status: DeliveryStatus) -> str:
    return visit.say(f"{'deliveries' if status in _OWN_WORDS else 'common'}.{status.value}")


def _state(visit: Visit, one: Delivery) -> Markup:
    return badge(_word(visit, one.status), one.status.value)


def _list(visit: Visit, found: Sequence[Delivery]) -> Markup:
    say = visit.say
    heads = ("common.when", "common.status", "deliveries.target", "deliveries.event")
    return listed(
        [*map(say, heads), say("deliveries.attempts"), say("deliveries.error")],
        [
            (
                moment(visit, one.created_at),
                _state(visit, one),
                one.target,
                el("a", one.event, href=address(ONE, id=one.id)),
                str(one.attempts),
                _error(visit, one.error),
            )
            for one in found
        ],
        label=say("frame.deliveries"),
    )


def _error(visit: Visit, error: str | None) -> Markup | None:
    if not error:
        return None
    said = visit.translated(error)
    return el("span", said, class_="muted small clamp", title=said, lang=visit.marked(error))


async def build_one(visit: Visit) -> None:
    """Draw one delivery with its attempts."""
    delivery_id = visit.query("id")
    if delivery_id is None:
        raise NotFound(Message("console.no_delivery"), hint=Message("console.hint_list"))
    found = await DeliveriesService(visit.session).get(delivery_id)
    one, say = found.delivery, visit.say
    ui.page_title(f"{one.event} · {one.target} · {say('deliveries.title')}")
    show(link(say("frame.deliveries"), PATH), tag="p")
    show(el("h1", f"{one.event} → {one.target}"))
    show(_facts(visit, one))
    _replay_button(visit, one)
    show(el("h2", say("deliveries.attempts")))
    show(_attempts(visit, found))
    data = json.dumps(one.payload.data, ensure_ascii=False, indent=2)
    show(el("details", el("summary", say("deliveries.data")), el("pre", data, class_="text")))
    show(twin(visit, f"/v1/deliveries/{one.id}"))


def _facts(visit: Visit, one: Delivery) -> Markup:
    say, answer = visit.say, one.answer
    rows: list[tuple[str, Part]] = [
        (say("common.status"), _state(visit, one)),
        (say("deliveries.made"), moment(visit, one.created_at)),
        (say("common.tenant"), one.tenant_id),
        (say("deliveries.about"), join(_about(visit, one), " · ") or say("frame.none")),
    ]
    if one.ended_at is not None:
        rows.append((say("deliveries.ended"), moment(visit, one.ended_at)))
    elif one.due_at is not None and one.due_at > one.created_at:  # before, it is due at once
        rows.append((say("deliveries.due"), moment(visit, one.due_at)))
    if answer is not None:
        rows.append((say("deliveries.said"), f"{answer.decision.value} {answer.note}".strip()))
    if one.error:
        rows.append((say("deliveries.error"), _error(visit, one.error)))
    pairs = [join([el("dt", name), el("dd", value)]) for name, value in rows]
    return el("section", el("dl", *pairs, class_="facts-grid"))


def _about(visit: Visit, one: Delivery) -> Iterator[Markup]:
    if one.feedback_id is not None:
        yield el("a", visit.say("deliveries.feedback"), href=address(_RUN, id=one.feedback_id))
    if one.change_id is not None:
        yield el("a", visit.say("deliveries.change"), href=address(_REVIEW, id=one.change_id))


def _attempts(visit: Visit, found: Delivered) -> Markup:
    if not found.attempts:
        return el("p", visit.say("deliveries.no_attempts"), class_="muted")
    heads = ("common.when", "common.status", "deliveries.took", "deliveries.error")
    rows = [_attempt(visit, one) for one in found.attempts]
    return listed([visit.say(head) for head in heads], rows, label=visit.say("deliveries.attempts"))


def _attempt(visit: Visit, one: Attempt) -> tuple[Part, ...]:
    took = visit.say("deliveries.seconds", n=f"{one.seconds:.2f}")
    return moment(visit, one.at), one.status, took, _error(visit, one.error)


def _replay_button(visit: Visit, one: Delivery) -> None:
    """Draw the button that sends it again, for those who operate; not of a question."""
    may = Role.OPERATE in visit.session.principal.roles
    if not may or one.status is DeliveryStatus.WAITING or one.event == BEFORE:
        return
    say = visit.say

    async def replay() -> None:
        with notify_failures(visit):
            await DeliveriesService(visit.session).replay(one.id)
            ui.notify(say("deliveries.replayed"), type="positive")
            ui.navigate.reload()

    title = say("deliveries.replay_title", target=one.target)
    dialog = ask(visit, title, say("deliveries.replay"), replay, [say("deliveries.replay_hint")])
    ui.button(say("deliveries.replay"), on_click=dialog.open).props("outline no-caps")
