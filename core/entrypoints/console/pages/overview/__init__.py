"""The overview: is it idle, busy, stuck or failing, and what came of what users said."""

from __future__ import annotations

from core.entrypoints.console.pages.overview.page import build
from core.entrypoints.console.site import Site


def add(site: Site) -> None:
    """Register the page on the site."""
    site.page("/", "overview", build)
