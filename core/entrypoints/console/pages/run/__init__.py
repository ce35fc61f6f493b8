"""The run: how one piece of feedback led to its outcome, as it happens."""

from __future__ import annotations

from core.entrypoints.console.pages.run.page import build
from core.entrypoints.console.site import Site


def add(site: Site) -> None:
    """Register the page on the site."""
    site.page("/feedback/run", "feedback", build)
