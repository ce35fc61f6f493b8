"""All changes as a list, by status."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup
from nicegui import ui

from core.domain.errors import InvalidInput
from core.domain.messages import Message
from core.domain.models import ChangeFilter, ChangeStatus, Origin
from core.entrypoints.console.parts.lists import badge, chip, empty, listed, pages, twin
from core.entrypoints.console.parts.markup import address, el, join, link, show
from core.entrypoints.console.parts.named import kind, moment, operation, status
from core.entrypoints.console.visit import Visit
from core.entrypoints.service.changes import ChangesService
from core.entrypoints.service.review_view.heads import ChangeHead

PATH = "/console/changes"
ONE = "/console/review"
_PAGE = 50
_LISTED = ("held", "stale", "applied", "rejected", "failed", "reverted")


async def build_list(visit: Visit) -> None:
    """Draw the page."""
    wanted = visit.query("status")
    if wanted is not None and wanted not in set(ChangeStatus):
        raise InvalidInput(Message("console.no_change_state", text=wanted))
    cursor = visit.query("cursor")
    page = await ChangesService(visit.session).page(
        ChangeFilter(statuses=(ChangeStatus(wanted),) if wanted else ()),
        limit=_PAGE,
        cursor=cursor,
    )
    state = f" · {visit.say(f'common.{wanted}')}" if wanted else ""
    ui.page_title(f"{visit.say('review.all_changes')}{state} · {visit.say('frame.title')}")
    show(el("h1", visit.say("review.all_changes")))
    show(el("p", link(visit.say("review.one_by_one"), ONE)))
    show(el("nav", *_chips(visit, wanted), class_="chips", aria_label=visit.say("common.status")))
    show(_rows(visit, page.items) if page.items else empty(visit.say("review.no_match")))
    more = pages(visit, PATH, page.next, status=wanted)
    if more:
        show(more)
    show(twin(visit, "/v1/changes", status=wanted, cursor=cursor, limit=str(_PAGE)))


def _chips(visit: Visit, wanted: str | None) -> list[Markup]:
    return [
        chip(
            visit.say(f"common.{state}") if state else visit.say("frame.all"),
            address(PATH, status=state),
            here=state == wanted,
        )
        for state in (None, *_LISTED)
    ]


def _named(visit: Visit, change: ChangeHead) -> Markup:
    """Return the link to a change: whether it is a lesson, and how much was found in it."""
    parts = [link(change.target_name, ONE, id=change.id)]
    if change.origin is Origin.WORKER:
        parts.append(badge(visit.say("review.lesson"), "waiting"))
    if change.findings:
        parts.append(badge(visit.say("review.found_n", n=len(change.findings)), "warning"))
    return join(parts, " ")


def _rows(visit: Visit, changes: Sequence[ChangeHead]) -> Markup:
    say = visit.say
    heads = ("common.when", "common.status", "common.name", "common.kind", "common.agent")
    return listed(
        [say(head) for head in heads],
        [
            (
                moment(visit, change.created_at),
                status(visit, change.status),
                _named(visit, change),
                f"{kind(visit, change.kind)} · {operation(visit, change.operation)}",
                f"{visit.agent(change.tenant_id, change.agent_id)} · {change.tenant_id}",
            )
            for change in changes
        ],
        label=say("review.all_changes"),
    )
