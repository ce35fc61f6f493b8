"""A review view drawn: what changes, who said what, why the agent wants it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from enum import StrEnum
from functools import partial

from markupsafe import Markup

from core.changes.cases.judging import is_reason
from core.changes.gate.siblings import Relation
from core.changes.review_sweep import EXPIRY
from core.domain.models import ChangeCost, ChangeStatus, Finding, Hit, Kind, Operation, Origin
from core.entrypoints.console.parts.diff import show_diff
from core.entrypoints.console.parts.lists import badge, listed
from core.entrypoints.console.parts.markup import Part, address, el, join
from core.entrypoints.console.parts.named import kind, moment, operation, reach_text, spent, status
from core.entrypoints.console.visit import Visit
from core.entrypoints.service.review_view.besides import Beside
from core.entrypoints.service.review_view.heads import ChangeHead
from core.entrypoints.service.review_view.shown import Side
from core.entrypoints.service.review_view.view import ReviewView

ITEM = "/console/knowledge/item"
RUN = "/console/feedback/run"
REVIEW = "/console/review"


def headline(visit: Visit, change: ChangeHead) -> Markup:
    """Draw in one line what the change does to what."""
    agent = visit.agent(change.tenant_id, change.agent_id)
    return el(
        "div",
        el(
            "span",
            f"{kind(visit, change.kind)} · {operation(visit, change.operation)}",
            class_="muted",
        ),
        el("h1", change.target_name, tabindex="-1"),
        el(
            "p",
            status(visit, change.status),
            " ",
            el("span", f"{change.tenant_id} · {agent}", class_="muted small"),
            " ",
            moment(visit, change.created_at),
            f" · {visit.say('review.edited_by', name=change.edited_by)}"
            if change.edited_by
            else None,
            class_="row",
        ),
    )


def view_parts(visit: Visit, review_view: ReviewView) -> Markup:
    """Draw the whole review view except its buttons."""
    whole = partial(_whole, review_view.change.id)
    return el(
        "div",
        el("section", *_feedback(visit, review_view), class_="heard"),
        el(
            "section",
            join(_banners(visit, review_view)),
            _choice(visit, review_view),
            join(_contradicting(visit, review_view)),
            _found(visit, review_view.change),
            _broken(visit, review_view.change),
            el("h2", visit.say("review.what")),
            join(show_diff(visit, review_view.diff, whole)),
            _edits(visit, review_view, whole),
            class_="what",
        ),
        el("aside", *_about(visit, review_view)),
        class_="review",
    )


def _choice(visit: Visit, review_view: ReviewView) -> Markup | None:
    """Draw what a change contradicts and what it says instead, side by side."""
    opposite = review_view.opposite
    if opposite is None:
        return None
    to = address(REVIEW, id=opposite.change_id) if opposite.change_id else None
    known = visit.say("review.there_is")
    return el(
        "section",
        el("h2", visit.say("review.choose")),
        el("p", visit.say("review.choose_hint"), class_="muted"),
        el(
            "div",
            _side(
                visit,
                el("a", known, href=to) if to else known,
                opposite.known,
                opposite.known_feedback,
                opposite.known_said_at,
            ),
            _side(
                visit,
                visit.say("review.instead"),
                opposite.instead,
                opposite.feedback,
                opposite.said_at,
            ),
            class_="sides",
        ),
        class_="choice",
    )


def _side(visit: Visit, title: Part, text: str, feedback: str, at: datetime | None) -> Markup:
    said = el("blockquote", feedback, class_="text") if feedback else None
    return el(
        "div",
        el("h3", title),
        el("div", text or visit.say("review.deleted"), class_="text"),
        said,
        el("p", moment(visit, at), class_="muted small") if at else None,
        class_="card",
    )


def _contradicting(visit: Visit, review_view: ReviewView) -> Iterator[Markup]:
    """Draw what waits too and contradicts a change: of the two only one can hold."""
    for other in review_view.beside:
        if other.relation is not Relation.CONTRADICTS:
            continue
        to = address(REVIEW, id=other.change.id)
        title = el("a", visit.say("review.waits_too"), href=to)
        yield el(
            "section",
            el("h2", visit.say("review.contradicts")),
            el("p", visit.say("review.contradicts_hint"), class_="muted"),
            _side(visit, title, other.text, other.feedback, other.said_at),
            class_="choice",
        )


def _found(visit: Visit, change: ChangeHead) -> Markup | None:
    """Draw what the screen found, each finding with its text and what it comes to."""
    if not change.findings:
        return None
    say = visit.say
    heads = ("", say("review.found_what"), say("review.found_text"), say("review.found_where"))
    rows = [
        (
            badge(say(_state(finding)), "error" if finding.holds else ""),
            visit.translated(finding.text),
            el("code", finding.quote) if finding.quote else "",
            f"{finding.place} {finding.start}–{finding.end}".strip(),
        )
        for finding in change.findings
    ]
    waits = any(finding.holds for finding in change.findings)
    return el(
        "section",
        el("h2", say("review.found")),
        el("p", say("review.found_hint"), class_="muted") if waits else None,
        listed(heads, rows, label=say("review.found")),
        class_="choice" if waits else None,
    )


def _broken(visit: Visit, change: ChangeHead) -> Markup | None:
    """Draw the cases that a change that waits breaks."""
    broken = tuple(why for why in change.held if is_reason(why))
    if not change.breaks or not broken:
        return None
    return el(
        "section",
        el("h2", visit.say("review.broken")),
        el("p", visit.say("review.broken_hint"), class_="muted"),
        _bullets(visit, broken),
        class_="choice",
    )


def _state(finding: Finding) -> str:
    if finding.is_allowed:
        return "review.found_allowed"
    return f"review.found_{finding.severity.value}"


def _edits(
    visit: Visit, review_view: ReviewView, whole: Callable[[str, Side], str]
) -> Markup | None:
    """Draw what a person has made of what the agent wrote."""
    if review_view.edits is None:
        return None
    name = review_view.change.edited_by or visit.say("review.unknown")
    return el(
        "details",
        el("summary", visit.say("review.edits", name=name)),
        join(show_diff(visit, review_view.edits, whole)),
        class_="card",
    )


def _whole(change_id: str, path: str, side: Side) -> str:
    return address(f"/v1/changes/{change_id}/files", path=path, side=side.value)


def _banners(visit: Visit, review_view: ReviewView) -> Iterator[Markup]:
    change = review_view.change
    if review_view.moved:
        yield el("p", visit.say("review.moved"), class_="banner warn", role="alert")
    if change.decided_at is not None:
        # Then the name is of the person who had approved it.
        gone = change.status is ChangeStatus.REVERTED
        said = visit.say(
            "review.approved_by" if gone else "review.decided",
            status=visit.say(f"common.{change.status.value}"),
            by=_decider(visit, change),
            when=visit.ago(change.decided_at),
        )
        decision = f": {visit.translated(change.decision)}" if change.decision else ""
        yield el("p", said + decision, class_="banner")
    elif change.status is ChangeStatus.REJECTED and change.decision:
        yield el("p", visit.translated(change.decision), class_="banner")
    if review_view.undone_by:
        to = address(REVIEW, id=review_view.undone_by)
        yield el("p", el("a", visit.say("review.undone_by"), href=to), class_="banner")
    if change.error:
        error = visit.translated(change.error)
        yield el("p", error, class_="banner bad", lang=visit.marked(change.error))
    for problem in review_view.problems:
        yield el("p", visit.translated(problem), class_="banner warn")


def _decider(visit: Visit, change: ChangeHead) -> str:
    if change.decided_by == EXPIRY:
        return visit.say("review.expiry")
    return change.decided_by or visit.say("review.nobody")


def _feedback(visit: Visit, review_view: ReviewView) -> Iterator[Markup]:
    """Yield what was said, and what the agent makes of it."""
    change, say = review_view.change, visit.say
    if review_view.cause is not None:
        cause = review_view.cause
        by = f"{cause.author or say('review.unknown')} · {visit.ago(cause.created_at)}"
        yield _block(
            say("review.said"),
            el("blockquote", review_view.cause.content, class_="text"),
            el("p", by, class_="muted small"),
        )
    if review_view.matched is not None and not _says_the_same(review_view):
        yield _block(say("review.understood"), el("p", review_view.matched.content, class_="text"))
    if change.reason:
        title = "review.asked" if change.origin is Origin.PERSON else "review.reason"
        yield _block(say(title), el("p", visit.translated(change.reason), class_="text"))


def _about(visit: Visit, review_view: ReviewView) -> Iterator[Markup]:
    change, say = review_view.change, visit.say
    if change.held:
        yield _block(say("review.why_waits"), _bullets(visit, change.held))
    others = [one for one in review_view.beside if one.relation is not Relation.CONTRADICTS]
    if others:
        yield _block(say("review.beside"), el("ul", *(_other(visit, one) for one in others)))
    how = " · ".join(say(f"common.{one.value}") for one in _how(change))
    if how:
        yield _block(say("review.how"), el("p", how))
    reach = _reach(visit, change)
    if reach:
        yield _block(say("review.reach"), el("p", reach))
    found = _bullets(visit, change.warnings) if change.warnings else None
    yield _block(say("review.checks"), found or _none(say("review.no_findings")))
    yield _block(say("review.similar"), _similar(visit, change, review_view.similar))
    yield _block(say("review.cost"), el("p", _cost(visit, review_view.cost)))
    yield _block(None, join(_links(visit, change), " · "))


def _other(visit: Visit, other: Beside) -> Markup:
    relation = visit.say(f"review.{other.relation.value}")
    return el(
        "li",
        el("a", other.change.target_name, href=address(REVIEW, id=other.change.id)),
        el("span", f" {relation}", class_="muted small", title=visit.translated(other.why)),
        el("div", other.feedback or other.text, class_="small muted clamp"),
    )


def _reach(visit: Visit, change: ChangeHead) -> str:
    """Return for whom and how long a memory holds after a change, and before where it differs."""
    if change.kind is not Kind.MEMORY:
        return ""
    reaches = [reach for reach in (change.reach_was, change.reach) if reach is not None]
    agent = visit.agent(change.tenant_id, change.agent_id)
    told = dict.fromkeys(reach_text(visit, reach, agent) for reach in reaches)
    return " → ".join(told)


def _how(change: ChangeHead) -> Iterator[StrEnum]:
    yield from filter(None, (change.merge_mode, change.relationship))


def _says_the_same(review_view: ReviewView) -> bool:
    return bool(
        review_view.cause
        and review_view.matched
        and review_view.cause.content.strip() == review_view.matched.content.strip()
    )


def _block(title: str | None, *parts: Part) -> Markup:
    return el("section", el("h3", title) if title else None, *parts)


def _bullets(visit: Visit, texts: tuple[str, ...]) -> Markup:
    told = (el("li", visit.translated(text), lang=visit.marked(text)) for text in texts)
    return el("ul", *told)


def _none(text: str) -> Markup:
    return el("p", text, class_="muted")


def _similar(visit: Visit, change: ChangeHead, hits: tuple[Hit, ...]) -> Markup:
    if not hits:
        return _none(visit.say("review.no_similar"))
    items = [
        el(
            "li",
            el("a", hit.name, href=item_address(change.tenant_id, hit.kind, hit.id)),
            el("span", f" {hit.score:.0%}", class_="muted small", title=visit.translated(hit.why)),
            el("div", hit.excerpt, class_="small muted clamp"),
        )
        for hit in hits
    ]
    return el("ul", *items)


def item_address(tenant_id: str, of: Kind, item_id: str) -> str:
    """Return the page of a known item."""
    return address(ITEM, tenant=tenant_id, kind=of.value, id=item_id)


def _cost(visit: Visit, cost: ChangeCost) -> str:
    """Return what a change cost: all calls that it shared in, and its own part of the money."""
    shared = cost.author + cost.run
    return spent(visit, shared.model_copy(update={"cost": cost.cost}))


def _has_item(change: ChangeHead) -> bool:
    """Whether there is an item to link to: a CREATE has none before it is applied."""
    applied = change.status in {ChangeStatus.APPLIED, ChangeStatus.REVERTED}
    has_been = applied or change.operation is not Operation.CREATE
    return has_been and change.kind is not Kind.AGENT_SKILLS


def _links(visit: Visit, change: ChangeHead) -> Iterator[Markup]:
    if change.feedback_id:
        yield el("a", visit.say("review.to_run"), href=address(RUN, id=change.feedback_id))
    if _has_item(change):
        to = item_address(change.tenant_id, change.kind, change.target_id)
        yield el("a", visit.say("review.to_item"), href=to)
    yield el("a", visit.say("frame.as_json"), href=f"/v1/changes/{change.id}/review")
