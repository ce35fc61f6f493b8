"""The review: one change at a time, all there is to know about it, and what is decided."""

from __future__ import annotations

from core.entrypoints.console.pages.review.listing import build_list
from core.entrypoints.console.pages.review.page import build
from core.entrypoints.console.site import Site


def add(site: Site) -> None:
    """Register the pages on the site."""
    site.page("/review", "review", build)
    site.page("/changes", "review", build_list)
