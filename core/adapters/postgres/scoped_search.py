"""What holds now and is for whoever asks: hits of a search, and what may matter for a task."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from datetime import datetime

from pydantic import JsonValue

from core.adapters.postgres.queries import Pool, connection, joined, sql
from core.adapters.postgres.search import SearchIndex, asked_terms
from core.domain import tracing
from core.domain.models import Agent, Hit, Kind, KnownText, Nearby
from core.domain.models.context import TaskMatch, TaskMeaning
from core.domain.models.feedback import WORKER_AGENT
from core.domain.ports import Meant, Ranking
from core.knowledge.context.selection import TaskWords, ask_task

# Ever more hits are asked for until enough hold: at most as many as this times the limit.
MOST_TIMES = 16
# Of each kind: what the rarest terms find, and what all terms then rank.
DEPTH = 120
BEST = 60
NEAREST = {Kind.MEMORY: 48, Kind.DMN_RULE: 8, Kind.SKILL: 8}


class ScopedSearch:
    """The `Search` port over a ranking of everything.

    Nothing is removed from the index when its time is over: `clock` says what is left out of the
    hits. Lessons of the worker are found under its own id alone.
    """

    def __init__(self, ranking: Ranking, clock: Callable[[], datetime]) -> None:
        self._ranking = ranking
        self._clock = clock

    async def search(
        self,
        query: str,
        *,
        tenant_id: str,
        agent_id: str | None,
        kind: Kind | None,
        limit: int,
        user: str | None = None,
    ) -> Sequence[Hit]:
        """Return the most similar items that hold, best first, with their reach."""
        with tracing.search(store=kind and kind.value, tenant_id=tenant_id):
            tracing.content("gen_ai.memory.query.text", lambda: query)
            hits = await self._search(query, tenant_id, agent_id, kind, limit, user)
            tracing.note({"gen_ai.memory.record.count": len(hits)})
            tracing.content("gen_ai.memory.records", lambda: [_shown(hit) for hit in hits])
            return hits

    async def _search(
        self,
        query: str,
        tenant_id: str,
        agent_id: str | None,
        kind: Kind | None,
        limit: int,
        user: str | None,
    ) -> Sequence[Hit]:
        asked = limit
        while True:
            found = await self._ranking.search(
                query, tenant_id=tenant_id, agent_id=agent_id, kind=kind, limit=asked
            )
            holding = [hit for hit in found if self._holds(hit, agent_id, user)]
            if len(holding) >= limit or len(found) < asked or asked >= limit * MOST_TIMES:
                return holding[: max(0, limit)]
            asked *= 4

    async def near(
        self,
        text: str,
        *,
        tenant_id: str,
        agent_id: str | None,
        kind: Kind,
        limit: int,
        user: str | None = None,
    ) -> Nearby:
        """Return the most similar items that hold, with the position of the first look."""
        asked, seen = limit, None
        while True:
            found = await self._ranking.near(
                text, tenant_id=tenant_id, agent_id=agent_id, kind=kind, limit=asked
            )
            seen = found.seen if seen is None else seen
            holding = [item for item in found.items if self._holds(item, agent_id, user)]
            is_all = len(found.items) < asked or asked >= limit * MOST_TIMES
            if len(holding) >= limit or is_all:
                return Nearby(items=tuple(holding), seen=seen)
            asked *= 4

    async def refresh(self, tenant_id: str) -> None:
        """Bring the index up to date with the skill store."""
        await self._ranking.refresh(tenant_id)

    def _holds(self, item: Hit | KnownText, agent_id: str | None, user: str | None) -> bool:
        if item.agent_id == WORKER_AGENT and agent_id != WORKER_AGENT:
            return False
        is_over = item.valid_until is not None and item.valid_until < self._clock()
        return not is_over and item.user in {None, user}


def _shown(hit: Hit) -> JsonValue:
    return {"id": hit.id, "content": hit.excerpt, "score": round(hit.score, 3)}


class PostgresTaskMatches:
    """The `TaskMatches` port; `clock` says what is over, `meant` finds by meaning."""

    def __init__(
        self, pool: Pool, clock: Callable[[], datetime], meant: Meant | None = None
    ) -> None:
        self._pool = pool
        self._clock = clock
        self._meant = meant

    async def find(self, task: str, agent: Agent, *, user: str | None) -> Sequence[TaskMatch]:
        return await self._find(task, agent, user, texts=True)

    async def rank(self, task: str, agent: Agent, *, user: str | None) -> Sequence[TaskMatch]:
        """Return what `find` does, without texts and versions."""
        return await self._find(task, agent, user, texts=False)

    async def _find(
        self, task: str, agent: Agent, user: str | None, *, texts: bool
    ) -> Sequence[TaskMatch]:
        asked, near = await asyncio.gather(
            self._ask(task, agent),
            self._near(task, agent),
        )
        if asked is None:
            return []
        close = {(known.kind, known.id): known.score for known in near.items}
        params = {
            **asked_terms(asked.weighing),
            "tenant_id": agent.tenant_id,
            "agent_id": agent.id,
            "skills": [*agent.skills],
            "kinds": joined(kind for kind, _ in close),
            "ids": joined(item_id for _, item_id in close),
            "user": user,
            "now": self._clock(),
            "depth": DEPTH,
            "limit": BEST,
            "texts": texts,
        }
        async with connection(self._pool) as conn:
            rows = await (await conn.execute(sql("context.found"), params)).fetchall()
        return [
            TaskMatch(
                kind=row["kind"],
                id=row["item_id"],
                name=row["name"],
                version=row["version"],
                content=row["content"],
                matched=row["matched"] / asked.enough,
                score=row["score"],
                closeness=close.get((Kind(row["kind"]), row["item_id"])),
                small_talk=near.small_talk,
            )
            for row in rows
        ]

    async def _ask(self, task: str, agent: Agent) -> TaskWords | None:
        async with connection(self._pool) as conn:
            return await ask_task(task, SearchIndex(conn, agent.tenant_id))

    async def _near(self, task: str, agent: Agent) -> TaskMeaning:
        """Return what is near in meaning, nothing without a model that answers in time."""
        if self._meant is None:
            return TaskMeaning()
        near = await self._meant(
            task,
            tenant_id=agent.tenant_id,
            agent_id=agent.id,
            limits=NEAREST,
            skills=agent.skills,
        )
        return near or TaskMeaning()
