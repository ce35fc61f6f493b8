"""What was changed, and the workers."""

from __future__ import annotations

from collections import defaultdict

from markupsafe import Markup

from core.domain.models import ChangeStatus, Kind, Operation
from core.domain.models.views import OutcomeCount, Overview, WorkerSeen
from core.entrypoints.console.parts.lists import badge, listed
from core.entrypoints.console.parts.markup import Part, address, el, join
from core.entrypoints.console.parts.named import kind, moment, operation, status
from core.entrypoints.console.visit import Visit


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
