"""What is known: to look through, to search, and each item with its past."""

from __future__ import annotations

from core.entrypoints.console.pages.knowledge import browsing, item
from core.entrypoints.console.site import Site


def add(site: Site) -> None:
    """Put the pages on the site."""
    site.page("/knowledge", "knowledge", browsing.build)
    site.page("/knowledge/item", "knowledge", item.build)
