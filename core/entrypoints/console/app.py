"""Mounts the console on a server: its pages under /console, over the opened program."""

from __future__ import annotations

from http import HTTPStatus
from pathlib import Path

from fastapi import FastAPI
from nicegui import storage, ui

from core.entrypoints.api.opened import Opened
from core.entrypoints.console.pages import feedback, graph, knowledge, overview, review, run
from core.entrypoints.console.parts.markup import el, link, show
from core.entrypoints.console.site import BASE, Site
from core.entrypoints.console.visit import Visit

PAGES = (overview, feedback, run, review, knowledge, graph)


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
