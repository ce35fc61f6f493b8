"""Mounts the console on a server: its pages under /console, over the opened program."""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus
from pathlib import Path

from fastapi import FastAPI
from jinja2 import BaseLoader, Environment
from nicegui import client as nicegui_client
from nicegui import storage, ui

from core.entrypoints.api.guard import NONCE
from core.entrypoints.api.opened import Opened
from core.entrypoints.console.pages import (
    cases,
    deliveries,
    effect,
    feedback,
    graph,
    knowledge,
    overview,
    review,
    run,
)
from core.entrypoints.console.parts.markup import el, link, show
from core.entrypoints.console.site import BASE, Site, bind_events
from core.entrypoints.console.visit import Visit

PAGES = (overview, feedback, run, review, knowledge, graph, effect, cases, deliveries)


async def _no_page(visit: Visit) -> None:
    ui.context.client.status_code = HTTPStatus.NOT_FOUND
    show(el("h1", visit.say("frame.no_page")))
    show(link(visit.say("frame.overview"), f"{BASE}/"), tag="p")


def mount(app: FastAPI, opened: Opened, home: Path) -> None:
    """Mount the console on `app`, once per process; the caller wraps the guard around both."""
    # NiceGUI creates its storage folder in the working directory unless told otherwise; it stays
    # empty.
    storage.Storage.path = home / "console"
    site = Site(opened)
    site.preferences()
    for page in PAGES:
        page.add(site)
    site.page("/{rest:path}", "no_page", _no_page)  # last: it matches any path that no other does
    ui.run_with(
        app,
        mount_path=BASE,
        title="skill-worker",
        dark=None,
        tailwind=False,
        reconnect_timeout=30.0,
        binding_refresh_interval=None,  # no page binds by polling ten times a second
        show_welcome_message=False,
    )
    bind_events()
    pages = nicegui_client.templates.env
    if pages.loader is not None:
        pages.loader = _Nonced(pages.loader)


class _Nonced(BaseLoader):
    """NiceGUI's own scripts with the nonce of a page, without which the browser runs none.

    It is the template that is changed, not what is written into it: a script that got in by a text
    has none.
    """

    def __init__(self, inner: BaseLoader) -> None:
        self._inner = inner

    def get_source(
        self, environment: Environment, template: str
    ) -> tuple[str, str | None, Callable[[], bool] | None]:
        """Return a template's source. Raises TemplateNotFound."""
        source, *rest = self._inner.get_source(environment, template)
        marked = source.replace("<script", f'<script nonce="{{{{ request.state.{NONCE} }}}}"')
        return marked, *rest  # type: ignore[return-value]
