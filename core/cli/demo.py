"""`skill-worker demo`: the whole way once, with example feedback, in a home of its own."""

from __future__ import annotations


def demo() -> None:
    """Show the whole way once."""
