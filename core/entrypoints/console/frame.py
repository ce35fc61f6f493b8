"""What surrounds every page: navigation, language, theme, who is signed in."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib import resources

from markupsafe import Markup
from nicegui import ui

from core.entrypoints.console.language import Language
from core.entrypoints.console.parts.markup import address, el, join, link, show
from core.entrypoints.console.visit import Visit

_PAGES = {
    "overview": "/console/",
    "feedback": "/console/feedback",
    "review": "/console/review",
    "knowledge": "/console/knowledge",
    "graph": "/console/graph",
}


@contextmanager
def draw(visit: Visit, name: str, *, dark: bool | None) -> Iterator[None]:
    """Draw the frame of a page; what the block draws is its content."""
    ui.page_title(f"{visit.say(f'frame.{name}')} · {visit.say('frame.title')}")
    ui.dark_mode(dark)
    ui.add_css(_file("style.css"))
    words = [visit.say("frame.connection_lost"), visit.say("frame.reconnecting")]
    ui.add_body_html(f"<script>({_file('session.js')})({json.dumps(words)})</script>")
    show(_bar(visit, name), tag="header")
    with ui.element("div").props(f'id="content" lang="{visit.language}" tabindex="-1"'):
        yield


def _bar(visit: Visit, name: str) -> Markup:
    entries = [
        link(visit.say(f"frame.{page}"), path, class_="here" if page == name else None)
        for page, path in _PAGES.items()
    ]
    principal = visit.session.principal
    tenant = principal.tenant_id or visit.say("frame.all_tenants")
    return el(
        "div",
        el("a", visit.say("frame.skip"), href="#content", class_="skip"),
        link(visit.say("frame.title"), "/console/", class_="brand"),
        el("nav", *entries, aria_label=visit.say("frame.pages")),
        el(
            "div",
            el(
                "span",
                tenant,
                title=visit.say("frame.signed_in", name=principal.name),
                class_="who",
            ),
            join(_switches(visit)),
            link(visit.say("frame.sign_out"), "/console/leave"),
            class_="tools",
        ),
        class_="bar",
        lang=visit.language,
    )


def _switches(visit: Visit) -> Iterator[Markup]:
    here = visit.request.url
    back = here.path + (f"?{here.query}" if here.query else "")
    other = Language.EN if visit.language is Language.KO else Language.KO
    to = address("/console/preferences", language=other, back=back)
    yield el("a", visit.say("frame.language"), href=to, title=visit.say("frame.language_hint"))
    for theme in ("dark", "light"):  # CSS hides the one in use
        to = address("/console/preferences", theme=theme, back=back)
        yield el("a", visit.say(f"frame.to_{theme}"), href=to, class_=f"to-{theme}")


@cache
def _file(name: str) -> str:
    return (resources.files("core.entrypoints.console") / name).read_text("utf-8")
