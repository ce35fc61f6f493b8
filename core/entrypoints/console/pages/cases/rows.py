"""Cases drawn: badges that count them, a table of them, and the rows of tables without any."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from markupsafe import Markup

from core.changes.cases.wording import case_words
from core.domain.models.case_figures import Coverage
from core.domain.models.cases import Case, CaseCounts, CaseRole, CaseStatus
from core.entrypoints.console.parts.lists import badge, listed
from core.entrypoints.console.parts.markup import Part, address, el, join
from core.entrypoints.console.parts.named import kind, moment
from core.entrypoints.console.visit import Visit

PATH = "/console/cases"
ITEM = "/console/knowledge/item"
REVIEW = "/console/review"
_MOST_ROWS = 20


def count_badges(visit: Visit, counts: CaseCounts) -> Markup:
    """Draw how many cases have each status; of an item without any that it is unproved."""
    numbers = {
        CaseStatus.GREEN: counts.green,
        CaseStatus.RED: counts.red,
        CaseStatus.UNPROVED: counts.unproved,
    }
    drawn = [
        badge(visit.say(f"cases.n_{status.value}", n=number), status.value)
        for status, number in numbers.items()
        if number
    ]
    return join(drawn or [badge(visit.say("cases.no_proof"), CaseStatus.UNPROVED.value)], " ")


def state(visit: Visit, status: CaseStatus) -> Markup:
    """Draw the badge of a status."""
    return badge(visit.say(f"cases.{status.value}"), status.value)


def case_table(visit: Visit, cases: Sequence[Case]) -> Markup:
    """Draw a table of cases of any items."""
    say = visit.say
    heads = ("common.status", "cases.case", "cases.item", "cases.agent", "cases.from")
    rows = [(*_row(visit, one), changed(visit, one)) for one in cases]
    names = [*map(say, heads), say("cases.since")]
    return listed(names, rows, label=say("cases.cases"))


def _row(visit: Visit, one: Case) -> tuple[Part, ...]:
    to = address(ITEM, kind=one.kind.value, tenant=one.tenant_id, id=one.item_id)
    item = el("a", one.item_name or one.item_id, href=to)
    agent = visit.agent(one.tenant_id, one.agent_id)
    return (
        state(visit, one.status),
        asked(visit, one),
        join([item, f" {kind(visit, one.kind)}"]),
        agent,
        origin(visit, one),
    )


def asked(visit: Visit, one: Case) -> Markup:
    """Draw what a case asks, and below it why it fails, is disabled, or cannot be run."""
    lines = [el("div", visit.translated(case_words(one.body)))]
    if one.note:
        lines.append(_small(visit, one.note, visit.translated(one.note)))
    if one.unrun_since is not None:
        lines.append(_small(visit, one.unrun_why, _unrun(visit, one)))
    return join(lines)


def _unrun(visit: Visit, one: Case) -> Markup:
    told = visit.say("cases.unrun", why=visit.translated(one.unrun_why))
    return join([told, moment(visit, one.unrun_since)], " ")


def _small(visit: Visit, text: str, drawn: Part) -> Markup:
    return el("div", drawn, class_="muted small", lang=visit.marked(text))


def origin(visit: Visit, one: Case) -> Markup:
    """Draw who made a case, with which change, and whether it proves that change."""
    by = visit.say("cases.by_name", name=one.by) if one.by else visit.say(f"cases.{one.origin}")
    parts: list[Part] = [by]
    if one.role is CaseRole.PROOF:
        parts.append(badge(visit.say("cases.proof"), "ok"))
    if one.change_id is not None:
        to = address(REVIEW, id=one.change_id)
        parts.append(el("a", visit.say("cases.came_with"), href=to, class_="small"))
    return join(parts, " ")


def changed(visit: Visit, one: Case) -> Markup:
    """Draw since when a case has its status, and by which change."""
    if one.by_change is None or one.by_change == one.change_id:
        return moment(visit, one.since)
    to = address(REVIEW, id=one.by_change)
    by = el("a", visit.say("cases.by_change"), href=to, class_="small")
    return join([moment(visit, one.since), by], " ")


def coverage_lines(visit: Visit, found: Sequence[Coverage]) -> Iterator[Markup]:
    """Draw which rows of tables no case decides by."""
    for one in found:
        decided = one.rows - len(one.uncovered)
        told = visit.say("cases.covered", name=one.item_name, n=decided, rows=one.rows)
        rows = ", ".join(map(str, one.uncovered[:_MOST_ROWS]))
        if len(one.uncovered) > _MOST_ROWS:
            rows += ", …"
        more = visit.say("cases.uncovered", rows=rows) if rows else ""
        yield el("p", " · ".join(filter(None, (told, more))), class_="muted small")
