"""What a search finds that holds now and is for whoever asks: hits without the others."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

from psycopg.rows import DictRow
from pydantic import JsonValue

from core.adapters.postgres.queries import Pool, fetch_all, joined
from core.domain import tracing
from core.domain.models import Hit, Kind, KnownText, Nearby, Scope
from core.domain.ports import Ranking
from core.domain.reserved import WORKER_AGENT

# Ever more hits are asked for until enough hold: at most as many as this times the limit.
MOST_TIMES = 16


class ScopedSearch:
    """The `Search` port over a ranking of everything.

    Nothing is removed from the index when its time is over: `clock` says what is left out of the
    hits. A memory that is for the whole tenant is indexed as shared, and here gets its agent again.
    Lessons of the worker are found under its own id alone.
    """

    def __init__(self, ranking: Ranking, pool: Pool, clock: Callable[[], datetime]) -> None:
        self._ranking = ranking
        self._pool = pool
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
            known = await self._known(tenant_id, found)
            holding = [
                _with_reach(hit, known) for hit in found if self._holds(hit, known, agent_id, user)
            ]
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
            known = await self._known(tenant_id, found.items)
            holding = [
                _with_agent(item, known)
                for item in found.items
                if self._holds(item, known, agent_id, user)
            ]
            is_all = len(found.items) < asked or asked >= limit * MOST_TIMES
            if len(holding) >= limit or is_all:
                return Nearby(items=tuple(holding), seen=seen)
            asked *= 4

    async def refresh(self, tenant_id: str) -> None:
        """Bring the index up to date with the skill store."""
        await self._ranking.refresh(tenant_id)

    async def _known(
        self, tenant_id: str, found: Sequence[Hit | KnownText]
    ) -> Mapping[tuple[str, str], DictRow]:
        ours = [item for item in found if item.kind is not Kind.SKILL]
        if not ours:
            return {}
        rows = await fetch_all(
            self._pool,
            "knowledge.reach",
            tenant_id=tenant_id,
            kinds=joined(item.kind for item in ours),
            ids=joined(item.id for item in ours),
        )
        return {(row["kind"], row["item_id"]): row for row in rows}

    def _holds(
        self,
        item: Hit | KnownText,
        known: Mapping[tuple[str, str], DictRow],
        agent_id: str | None,
        user: str | None,
    ) -> bool:
        row = known.get((item.kind, item.id))
        if row is None:
            return True
        if row["agent_id"] == WORKER_AGENT and agent_id != WORKER_AGENT:
            return False
        is_over = row["valid_until"] is not None and row["valid_until"] < self._clock()
        return not is_over and row["scope_user"] in {None, user}


def _shown(hit: Hit) -> JsonValue:
    return {"id": hit.id, "content": hit.excerpt, "score": round(hit.score, 3)}


def _with_reach(hit: Hit, known: Mapping[tuple[str, str], DictRow]) -> Hit:
    row = known.get((hit.kind, hit.id))
    if row is None:
        return hit
    return hit.model_copy(
        update={
            "agent_id": row["agent_id"],
            "taught_at": row["taught_at"],
            "valid_until": row["valid_until"],
            "scope": Scope(row["scope"]),
            "user": row["scope_user"],
        }
    )


def _with_agent(item: KnownText, known: Mapping[tuple[str, str], DictRow]) -> KnownText:
    row = known.get((item.kind, item.id))
    return item if row is None else item.model_copy(update={"agent_id": row["agent_id"]})
