"""What is known: to browse, to search, and each item with its past."""

from __future__ import annotations

from core.entrypoints.console.pages.knowledge import browsing, item
from core.entrypoints.console.site import Site


def add(site: Site) -> None:
    """Register the pages on the site."""
    site.page("/knowledge", "knowledge", browsing.build)
    site.page("/knowledge/item", "knowledge", item.build)
