"""The platform for tests: rows of `todolist` on a PostgREST double, and its source."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from core.adapters.sources.platform import Platform
from core.adapters.sources.postgrest import PostgrestSource, open_platform
from core.domain.models import Feedback, Outcome
from core.domain.ports import FeedbackSource
from core.polling_manager import acknowledge_task, fetch_feedback_task
from core.testing.intake import MemoryDeliveries
from core.testing.stores import MemoryAgents, MemoryInbox
from tests.support.postgrest_server import KEY, PostgrestServer, Row, postgrest_server

TENANT = "acme"
AGENT: Row = {
    "id": "clerk",
    "username": "주문 담당",
    "role": "takes orders",
    "goal": None,
    "persona": "calm",
    "tenant_id": TENANT,
    "skills": "invoice-check, refunds",
}
START = datetime(2026, 1, 1, 9, tzinfo=UTC)


@dataclass
class Supabase:
    """A platform, an inbox, and the parts that `core.polling_manager` works with."""

    server: PostgrestServer
    platform: Platform
    inbox: MemoryInbox = field(default_factory=MemoryInbox)
    agents: MemoryAgents = field(default_factory=MemoryAgents)
    sources: dict[str, FeedbackSource] = field(default_factory=dict)
    minutes: int = 0

    def __post_init__(self) -> None:
        self.deliveries = MemoryDeliveries(self.inbox)

    def source(self) -> PostgrestSource:
        """Return the source as a worker has it."""
        return PostgrestSource(self.platform, self.deliveries)

    def item(self, content: object, user_id: object = "kim") -> Row:
        """Return an item said a minute after the previous one."""
        self.minutes += 1
        said = START + timedelta(minutes=self.minutes)
        return {"time": said.isoformat(), "content": content, "user_id": user_id}

    def todo(self, row_id: str, feedback: object, **values: object) -> Row:
        """Add a waiting row."""
        row: Row = {
            "id": row_id,
            "user_id": "clerk",
            "assignees": None,
            "feedback": feedback,
            "description": "견적서 작성",
            "tenant_id": TENANT,
            "feedback_status": "REQUESTED",
            "updated_at": (START + timedelta(minutes=self.minutes)).isoformat(),
            **values,
        }
        self.server.tables["todolist"].append(row)
        return row

    def say(self, content: str) -> None:
        """Let a user say something on a row of its own."""
        self.todo(f"todo {len(self.server.tables['todolist'])}", [self.item(content)])

    def told(self, content: str) -> bool | None:
        """Return the acknowledged end of the row on which this was said."""
        for row in self.server.tables["todolist"]:
            if any(said["content"] == content for said in row["feedback"]):  # type: ignore[attr-defined]
                return {"COMPLETED": True, "FAILED": False}.get(str(row["feedback_status"]))
        raise LookupError(content)

    def status(self, row_id: str) -> object:
        """Return the status of a row."""
        return self.server.row(row_id)["feedback_status"]

    def contents(self) -> list[str]:
        """Return the contents of the inbox."""
        return [piece.content for piece in self.inbox.feedback.values()]

    async def fetch(self) -> int:
        """Fetch as a worker does."""
        return await fetch_feedback_task(self.source(), limit=10, deps=self)

    async def acknowledge(self) -> int:
        """Repeat acknowledgements as a worker does."""
        return await acknowledge_task(self.source(), limit=10, deps=self)

    async def end(self, outcome: Outcome, content: str | None = None) -> list[Feedback]:
        """End all unfinished pieces, or the one with this content, without acknowledging them."""
        ended = []
        for piece in list(self.inbox.feedback.values()):
            if content in {None, piece.content}:
                claimed = await self.inbox.claim(piece.id)
                if claimed:
                    await self.inbox.finish(claimed, outcome)
                    ended.append(await self.inbox.get(piece.id))
        return ended


@asynccontextmanager
async def supabase() -> AsyncIterator[Supabase]:
    """Open a platform with one agent and no feedback."""
    async with postgrest_server() as server, open_platform(server.url, KEY) as platform:
        server.tables["users"].append(dict(AGENT))
        yield Supabase(server, platform)
