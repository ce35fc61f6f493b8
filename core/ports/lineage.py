"""Where what is known came from: change by change, and from whose words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from core.models import Kind
from core.models.known import KnownCount, Made, Taught


class Lineage(Protocol):
    """How items came to be what they are, for those who look at them."""

    async def made(
        self, kind: Kind, tenant_id: str, item_id: str, *, limit: int, max_bytes: int
    ) -> Sequence[Made]:
        """Give the newest changes of an item, oldest first: `limit` of them at most.

        The newest always, of the others as many as have `max_bytes` bytes of text together; with
        0 all, but without the states before and after.
        """

    async def taught(self, tenant_id: str, *, agent_id: str | None, limit: int) -> Sequence[Taught]:
        """Give which feedback taught what is known now, newest first, once for each item."""

    async def counts(self, tenant_id: str) -> Sequence[KnownCount]:
        """Give how many memories and rules each agent knows, by agent and kind."""
