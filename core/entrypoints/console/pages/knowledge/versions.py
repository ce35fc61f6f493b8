"""The versions of an item, newest first, and what brought each."""

from __future__ import annotations

from collections.abc import Callable

from markupsafe import Markup

from core.domain.models import Origin
from core.domain.models.views import Cause, Version
from core.entrypoints.console.parts.lists import listed
from core.entrypoints.console.parts.markup import Part, address, el, join
from core.entrypoints.console.parts.named import moment, operation
from core.entrypoints.console.visit import Visit
from core.entrypoints.service.items import Versions

RUN = "/console/feedback/run"
REVIEW = "/console/review"


def version_rows(visit: Visit, versions: Versions, to: Callable[[int], str]) -> Markup:
    """Draw the table of versions; `to` returns the URL of one."""
    heads = ("knowledge.version", "knowledge.span", "knowledge.what", "knowledge.because")
    rows = [_row(visit, one, to) for one in versions.items]
    table = listed([visit.say(head) for head in heads], rows, label=visit.say("knowledge.versions"))
    if not versions.left_out:
        return table
    said = visit.say("knowledge.left_out", n=versions.left_out)
    return join([table, el("p", said, class_="muted small")])


def because(visit: Visit, cause: Cause) -> Markup:
    """Draw what brought something: whose words, and who approved it."""
    parts: list[Part] = []
    if cause.feedback_id:
        words = cause.feedback or cause.feedback_id
        parts.append(el("a", words, href=address(RUN, id=cause.feedback_id), class_="clamp"))
    elif cause.origin is Origin.IMPORT:
        parts.append(visit.say("knowledge.imported"))
    elif cause.origin is Origin.PERSON:
        parts.append(visit.say("knowledge.by_person"))
    elif cause.origin is Origin.OUTSIDE:
        parts.append(visit.say("knowledge.outside"))
    facts = [cause.author or "", visit.ago(cause.said_at) if cause.said_at else ""]
    if cause.decided_by:
        facts.append(visit.say("knowledge.approved_by", name=cause.decided_by))
    if cause.origin is Origin.IMPORT and cause.reason:  # which says where it came from
        facts.append(visit.translated(cause.reason))
    said = " · ".join(filter(None, facts))
    if said:
        parts.append(el("div", said, class_="muted small"))
    return join(parts, " ")


def _row(visit: Visit, one: Version, to: Callable[[int], str]) -> tuple[Part, ...]:
    number = el("a", str(one.version), href=to(one.version)) if one.version else "–"
    until = moment(visit, one.valid_to) if one.valid_to else visit.say("knowledge.now")
    what: list[Part] = [operation(visit, one.operation)]
    if one.relationship:
        what.append(visit.say(f"common.{one.relationship.value}"))
    if one.takes_back:
        what.append(visit.say("knowledge.takes_back"))
    change = el("a", join(what, " · "), href=address(REVIEW, id=one.by.change_id))
    return (
        number,
        join([moment(visit, one.valid_from), until], " → "),
        change,
        because(visit, one.by),
    )
