"""What may belong in the context of a task: two queries by words, a third one by meaning."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from datetime import datetime

from core.adapters.postgres.queries import Pool, connection, joined, sql
from core.adapters.postgres.search import SearchIndex, asked_terms
from core.domain.models import Agent, Kind, KnownText
from core.domain.models.context import TaskMatch
from core.domain.ports import Meant
from core.knowledge.context.asking import TaskWords, ask_task

# Of each kind: what the rarest terms find, and what all terms then rank.
DEPTH = 120
BEST = 60
NEAREST = {Kind.MEMORY: 48, Kind.DMN_RULE: 8, Kind.SKILL: 8}


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
        close = {(known.kind, known.id): known.score for known in near}
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
            )
            for row in rows
        ]

    async def _ask(self, task: str, agent: Agent) -> TaskWords | None:
        async with connection(self._pool) as conn:
            return await ask_task(task, SearchIndex(conn, agent.tenant_id))

    async def _near(self, task: str, agent: Agent) -> Sequence[KnownText]:
        """Return what is near in meaning, nothing without a model that answers in time."""
        if self._meant is None:
            return []
        near = await self._meant(
            task,
            tenant_id=agent.tenant_id,
            agent_id=agent.id,
            limits=NEAREST,
            skills=agent.skills,
        )
        return near or []
