"""Pods of this process: each is a sandbox of its own, where the machine has a wall for it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from core.domain.errors import PodCallFailed
from core.domain.messages import Message
from core.domain.ports import Pod

if TYPE_CHECKING:
    from core.adapters.embedded.sandbox_wall import Wall


class LocalPods:
    """The `Pods` port. Without a wall that is a boundary none opens: it raises PodCallFailed."""

    def __init__(self, wall: Wall | None = None) -> None:
        self._wall = wall

    @asynccontextmanager
    async def open(self, *, ttl: int) -> AsyncIterator[Pod]:
        # Every process has these pods, and few ever open one.
        from core.adapters.embedded.sandbox import find_wall, open_sandbox
        from core.adapters.embedded.sandbox_wall import Limits

        if self._wall is None:
            self._wall = await asyncio.to_thread(find_wall)
        wall = self._wall
        if not wall.is_boundary:
            raise PodCallFailed(Message("case.needs_sandbox"))
        async with asyncio.timeout(ttl), open_sandbox(wall, Limits()) as sandbox:
            yield sandbox
