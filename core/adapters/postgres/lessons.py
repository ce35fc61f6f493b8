"""Lessons of the worker in PostgreSQL: evidence, proposals, and what runs were shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

from core.adapters.postgres.queries import Pool, execute, fetch_all, fetch_one
from core.domain.event_cursor import START, EventCursor, parse_cursor
from core.domain.models.feedback import WORKER_AGENT
from core.domain.models.lessons import ChangeFact, Evidence, LessonState, RunFact, ShownLesson

CHARS = 20_000  # of a content that is looked at


class PostgresLessonLog:
    """The `LessonLog` port."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def cursor(self) -> str:
        row = await fetch_one(self._pool, "lessons.cursor")
        return str(EventCursor(row["txid"], row["id"]) if row else START)

    async def collected(self, found: Sequence[Evidence], cursor: str, until: str) -> bool:
        since, to = parse_cursor(cursor), parse_cursor(until)
        row = await fetch_one(
            self._pool,
            "lessons.collected",
            found=Jsonb([one.model_dump(mode="json") for one in found]),
            txid=since.txid,
            id=since.id,
            until_txid=to.txid,
            until_id=to.id,
        )
        return row is not None

    async def changes(self, change_ids: Sequence[str]) -> Sequence[ChangeFact]:
        rows = await fetch_all(self._pool, "lessons.changes", ids=[*change_ids], chars=CHARS)
        return [ChangeFact.model_validate(row) for row in rows]

    async def recovered(
        self, candidate_ids: Sequence[str], feedback_ids: Sequence[str]
    ) -> Sequence[RunFact]:
        ids = {"ids": [*candidate_ids], "feedback_ids": [*feedback_ids]}
        rows = await fetch_all(self._pool, "lessons.recovered", **ids, chars=CHARS)
        return [RunFact.model_validate(row) for row in rows]

    async def shown(
        self, candidate_ids: Sequence[str], feedback_ids: Sequence[str]
    ) -> Sequence[ShownLesson]:
        ids = {"ids": [*candidate_ids], "feedback_ids": [*feedback_ids]}
        rows = await fetch_all(self._pool, "lessons.shown", **ids)
        return [ShownLesson.model_validate(row) for row in rows]

    async def evidence(self, tenant_id: str, key: str, limit: int) -> Sequence[Evidence]:
        of = {"tenant_id": tenant_id, "key": key, "limit": limit}
        return [Evidence.model_validate(row) for row in await self._all("lessons.evidence", of)]

    async def keys(self, like: Evidence, limit: int) -> Sequence[Evidence]:
        of = {**like.picked("tenant_id", "kind", "about"), "limit": limit}
        return [Evidence.model_validate(row) for row in await self._all("lessons.keys", of)]

    async def states(self, tenant_id: str | None) -> Sequence[LessonState]:
        rows = await self._all("lessons.states", {"tenant_id": tenant_id})
        return [LessonState.model_validate(row) for row in rows]

    async def proposed(
        self,
        lesson: LessonState,
        *,
        change_id: str | None,
        item_id: str | None,
        refused: str | None,
    ) -> None:
        await execute(
            self._pool,
            "lessons.proposed",
            tenant_id=lesson.tenant_id,
            key=lesson.key,
            ordinal=lesson.proposals + 1,
            change_id=change_id,
            item_id=item_id,
            refused=refused,
        )

    async def standing(self, tenant_id: str) -> Sequence[str]:
        of = {"tenant_id": tenant_id, "agent_id": WORKER_AGENT}
        return [str(row["item_id"]) for row in await self._all("lessons.standing", of)]

    async def note_recurring(self) -> None:
        await execute(self._pool, "lessons.note_recurring", agent_id=WORKER_AGENT)

    async def _all(self, block: str, params: Mapping[str, object]) -> Sequence[DictRow]:
        return await fetch_all(self._pool, block, **params)
