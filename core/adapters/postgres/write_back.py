"""What is written back to the platform: records of changes, lists as they were last compared."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

from core.adapters.postgres.queries import Pool, execute, fetch_all, fetch_one
from core.domain.errors import Stale
from core.domain.messages import Message
from core.domain.models import Change, HistoryRecord, RunEvent
from core.domain.models.deliveries import SkillListState
from core.domain.ports import Routes

_NAMES = ("ours", "theirs", "left", "adding", "removing", "coming")


class PostgresWriteBackRecords:
    """The `WriteBackRecords` port."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def attempts(self, change_id: str) -> Sequence[HistoryRecord]:
        rows = await fetch_all(self._pool, "write_back.attempts", change_id=change_id)
        return [HistoryRecord.model_validate(dict(row)) for row in rows]

    async def later(self, change: Change) -> Sequence[str]:
        target = change.picked("tenant_id", "kind", "target_id")
        rows = await fetch_all(self._pool, "write_back.later", change_id=change.id, **target)
        return [row["change_id"] for row in rows]

    async def listers(self, tenant_id: str, skill: str) -> Sequence[str]:
        asked = {"tenant_id": tenant_id, "name": skill}
        rows = await fetch_all(self._pool, "write_back.listers", **asked)
        return [row["agent_id"] for row in rows]

    async def tenant_skills(self, tenant_id: str) -> frozenset[str]:
        rows = await fetch_all(self._pool, "write_back.tenant_skills", tenant_id=tenant_id)
        return frozenset(row["name"] for row in rows)

    async def skill_list(self, tenant_id: str, agent_id: str) -> SkillListState | None:
        of = {"tenant_id": tenant_id, "agent_id": agent_id}
        row = await fetch_one(self._pool, "write_back.skill_list", **of)
        return None if row is None else SkillListState.model_validate(dict(row))

    async def keep(self, state: SkillListState) -> SkillListState:
        params = state.model_dump()
        params |= {name: sorted(params[name]) for name in _NAMES}
        row = await fetch_one(self._pool, "write_back.keep", **params)
        if row is None:
            raise Stale(Message("platform.compared_meanwhile", agent=state.agent_id))
        return state.model_copy(update={"revision": int(row["revision"])})


class PostgresUnsent:
    """The `Unsent` port."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def page(
        self, target: str, *, tenant_id: str | None, since: datetime | None, after: int, limit: int
    ) -> tuple[Sequence[RunEvent], int | None]:
        rows = await fetch_all(
            self._pool,
            "write_back.unsent",
            target=target,
            only=tenant_id,
            since=since,
            after=after,
            limit=limit,
        )
        return [_event(row) for row in rows], int(rows[-1]["seq"]) if len(rows) == limit else None

    async def send(self, events: Sequence[RunEvent], routes: Routes) -> int:
        rows = [row for event in events for row in _rows(event, routes)]
        return await execute(self._pool, "write_back.send", rows=Jsonb(rows)) if rows else 0


def _event(row: DictRow) -> RunEvent:
    """Return the event with which a change ended, as its record says."""
    return RunEvent(
        name="change.failed" if row["status"] == "failed" else "change.applied",
        at=row["created_at"],
        tenant_id=row["tenant_id"],
        feedback_id=row["feedback_id"],
        change_id=row["change_id"],
        data={
            "kind": row["knowledge_type"],
            "operation": row["operation"],
            "target_id": row["knowledge_id"],
            "agent_id": row["agent_id"],
        },
    )


def _rows(event: RunEvent, routes: Routes) -> Iterator[dict[str, object]]:
    payload = event.model_dump(mode="json", exclude_none=True, exclude={"id"})
    for route in routes(event):
        yield {
            **route._asdict(),
            "once_key": f"backfill:{event.change_id}",
            "tenant_id": event.tenant_id,
            "feedback_id": event.feedback_id,
            "change_id": event.change_id,
            "payload": payload,
        }
