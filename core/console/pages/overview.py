"""The overview: is it idle, busy, stuck or failing, and what came of what users said."""

from __future__ import annotations

from core.console.parts.markup import el, show
from core.console.site import Site
from core.console.visit import Visit


def add(site: Site) -> None:
    """Put the page on the site."""
    site.page("/", "overview", build)


async def build(visit: Visit) -> None:
    """Draw the page."""
    show(el("h1", visit.say("frame.overview")))
