"""Changes that wait for a person, as a line in which the oldest comes first."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Protocol

from core.models.review import OpenedChange

AHEAD = 5


class ReviewQueue(Protocol):
    """Reads for reviewers, each in one look. A tenant of None stands for all of them."""

    async def look(
        self, change_id: str, *, tenant_id: str | None, but: Collection[str]
    ) -> OpenedChange:
        """Give a change with its feedback and its place in the line.

        At most `AHEAD` changes are named as following; those in `but` are left out. Raises
        NotFound.
        """

    async def first(self, *, tenant_id: str | None, but: Collection[str]) -> Sequence[str]:
        """Give the ids of the `AHEAD` that wait longest, those in `but` left out."""
