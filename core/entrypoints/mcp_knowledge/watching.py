"""Notices to connected clients: what their agent knows has changed, by the feed of events."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from anyio import CancelScope

from core.domain.errors import NotFound
from core.domain.models import EventFilter, Kind, RunEvent, Scope
from core.domain.ports import ChangeLog, Feed
from core.domain.tasks import as_far_as, end_tasks, repeat
from core.entrypoints.service.events import follow

AGAIN_SECONDS = 1.0  # until the feed is read again after a failure
READY_SECONDS = 2.0  # how long a client waits until the feed is followed
_NAMES = ("change.applied",)  # of reverted and retracted ones too


@dataclass
class Watcher:
    """One client's view: whose knowledge, and which skills have changed since it was told."""

    tenant_id: str
    agent_id: str
    skills: set[str] = field(default_factory=set)
    rung: asyncio.Event = field(default_factory=asyncio.Event)

    async def wait(self) -> frozenset[str]:
        """Wait until something has changed, and return the names of the skills among it."""
        await self.rung.wait()
        self.rung.clear()
        changed = frozenset(self.skills)
        self.skills.clear()
        return changed


class KnowledgeChanges:
    """Reads the feed once for all clients of this process, while there are any."""

    def __init__(self, feed: Feed, changes: ChangeLog, tenant_id: str | None = None) -> None:
        self._feed, self._changes, self._tenant_id = feed, changes, tenant_id
        self._watchers: list[Watcher] = []
        self._task: asyncio.Task[None] | None = None
        self._follows = asyncio.Event()
        self._has_missed = False

    @asynccontextmanager
    async def watching(self, tenant_id: str, agent_id: str) -> AsyncIterator[Watcher]:
        """Yield a watcher of an agent's knowledge while the block lasts; it misses nothing."""
        watcher = Watcher(tenant_id, agent_id)
        self._watchers.append(watcher)
        if self._task is None:
            self._task = asyncio.create_task(
                repeat(AGAIN_SECONDS, "knowledge", self._follow), name="knowledge"
            )
        try:
            await self._follows_soon()
            yield watcher
        finally:
            self._watchers.remove(watcher)
            if not self._watchers:
                task, self._task = self._task, None
                assert task is not None
                self._follows.clear()
                with CancelScope(shield=True):  # a client that leaves is cancelled over and over
                    await end_tasks([task])

    async def _follows_soon(self) -> None:
        try:
            async with asyncio.timeout(READY_SECONDS):
                await self._follows.wait()
        except TimeoutError:  # the database is down: the client is told once it is back
            self._has_missed = True

    async def _follow(self) -> None:
        with as_far_as(self._tenant_id):
            await self._tell_all()

    async def _tell_all(self) -> None:
        events = await follow(self._feed, EventFilter(tenant_id=self._tenant_id, names=_NAMES))
        if self._follows.is_set() or self._has_missed:  # not all that changed is in the feed
            for watcher in self._watchers:
                watcher.rung.set()
        self._has_missed = False
        self._follows.set()
        async for placed in events:
            await self._tell(placed.event)

    async def _tell(self, event: RunEvent) -> None:
        change = event.state.change
        near = [one for one in self._watchers if one.tenant_id == event.tenant_id]
        if change is None or not near:
            return
        whose = None
        if change.kind is not Kind.SKILL:  # a skill may be on several lists
            whose = await self._agent_of(event)
        for watcher in near:
            if whose is None or watcher.agent_id == whose:
                if change.kind is Kind.SKILL:
                    watcher.skills.add(change.target_id)
                watcher.rung.set()

    async def _agent_of(self, event: RunEvent) -> str | None:
        """Return whose an applied change is; None if it is for all agents, or not known."""
        try:
            change = await self._changes.get(event.change_id or "")
        except NotFound:
            return None
        states = (change.before, change.after)
        is_shared = any(state is not None and state.reach.scope is Scope.TENANT for state in states)
        return None if is_shared else change.agent_id
