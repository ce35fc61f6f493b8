"""A double of a platform with sources on it, as the suite of all sources asks for."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TypeVar

from pydantic import JsonValue

from core.domain.ports import FeedbackSource, OpenSource
from core.testing.intake import MemoryDeliveries
from core.testing.stores import MemoryInbox

SOURCES = 3  # more than any test takes


class PlatformWorld:
    """People who say something there, and sources that fetch it for the agent `clerk`."""

    def __init__(self, section: Mapping[str, JsonValue]) -> None:
        self.inbox = MemoryInbox()
        whose = {"tenant": "acme", "agents": ["clerk"], "poll_seconds": 0}
        self.section: dict[str, JsonValue] = {**section, **whose}
        self.sources: list[FeedbackSource] = []

    def source(self) -> FeedbackSource:
        """Return a source that no test has had."""
        return self.sources.pop()


W = TypeVar("W", bound=PlatformWorld)


@asynccontextmanager
async def with_sources(world: W, open_source: OpenSource) -> AsyncIterator[W]:
    """Open sources in a world."""
    known = MemoryDeliveries(world.inbox)
    async with AsyncExitStack() as stack:
        for _ in range(SOURCES):
            opened = open_source(world.section, known)  # type: ignore[arg-type]
            world.sources.append(await stack.enter_async_context(opened))
        yield world
