"""The run: how one piece of feedback came to what it did, as it happens."""

from __future__ import annotations

from core.entrypoints.console.pages.run.page import build
from core.entrypoints.console.site import Site


def add(site: Site) -> None:
    """Put the page on the site."""
    site.page("/feedback/run", "feedback", build)
