"""Lists, status badges, and what is shown for an empty list."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from markupsafe import Markup

from core.entrypoints.console.parts.markup import Part, address, el, join, link
from core.entrypoints.console.visit import Visit

_TONES = {
    "good": {"applied", "completed", "delivered", "alive", "ok", "green"},
    "warn": {"held", "stale", "queued", "paused", "stuck", "warning", "unproved"},
    "bad": {"failed", "dead", "rejected", "silent", "error", "red"},
    "info": {"processing", "applying", "prepared", "waiting", "busy"},
}


def badge(text: str, status: str) -> Markup:
    """Return a badge: the words say it, the colour of `status` only helps."""
    tone = next((tone for tone, of in _TONES.items() if status in of), "")
    return el("span", text, class_=f"badge {tone}".strip())


def chip(text: str, to: str, *, here: bool) -> Markup:
    """Return one of several links; the chosen one is marked."""
    current = "true" if here else None
    return el("a", text, href=to, class_="chip here" if here else "chip", aria_current=current)


def listed(heads: Sequence[str], rows: Iterable[Sequence[Part]], *, label: str) -> Markup:
    """Return a table that becomes cards on a phone."""
    head = el("thead", el("tr", *(el("th", name, scope="col") for name in heads)))
    body = el(
        "tbody",
        *(
            el(
                "tr",
                *(el("td", cell, data_label=name) for name, cell in zip(heads, row, strict=True)),
            )
            for row in rows
        ),
    )
    return el("table", head, body, class_="list", aria_label=label)


def empty(title: str, hint: Part = None) -> Markup:
    """Return the message of an empty list, and what to do about it."""
    return el("div", el("strong", title), hint, class_="empty")


def twin(visit: Visit, path: str, **query: str | None) -> Markup:
    """Return the link to what a page shows, as JSON."""
    to = address(path, **query)
    return el("p", el("a", visit.say("frame.as_json"), href=to), class_="small")


def pages(visit: Visit, path: str, following: str | None, **query: str | None) -> Markup | None:
    """Return links to the first and the next page of a list; None if there is only one."""
    cursor = visit.query("cursor")
    parts = []
    if cursor is not None:
        parts.append(link(visit.say("frame.newer"), path, **query))
    if following is not None:
        to = address(path, **query, cursor=following)
        parts.append(el("a", visit.say("frame.older"), href=to))
    return el("p", join(parts, " · "), class_="row") if parts else None
