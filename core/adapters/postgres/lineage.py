"""The provenance of knowledge, read from the history, the changes and the feedback."""

from __future__ import annotations

from collections.abc import Sequence

from psycopg.rows import DictRow

from core.adapters.postgres.queries import Pool, fetch_all, recalled
from core.domain.models import FileRef, Kind, Snapshot
from core.domain.models.views import Cause, KnownCount, Made, Taught

_CAUSE = set(Cause.model_fields)
_MADE = set(Made.model_fields) - {"by", "before", "after"}
_TAUGHT = set(Taught.model_fields)


class PostgresLineage:
    """The `Lineage` port."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def made(
        self, kind: Kind, tenant_id: str, item_id: str, *, limit: int, max_bytes: int
    ) -> Sequence[Made]:
        rows = await fetch_all(
            self._pool,
            "lineage.made",
            kind=kind,
            tenant_id=tenant_id,
            item_id=item_id,
            limit=limit,
            max_bytes=max_bytes,
        )
        return [_made(row, whole=max_bytes > 0) for row in rows]

    async def taught(self, tenant_id: str, *, agent_id: str | None, limit: int) -> Sequence[Taught]:
        rows = await fetch_all(
            self._pool, "lineage.taught", tenant_id=tenant_id, agent_id=agent_id, limit=limit
        )
        return [Taught(**{key: row[key] for key in _TAUGHT}) for row in rows]

    async def counts(self, tenant_id: str) -> Sequence[KnownCount]:
        rows = await fetch_all(self._pool, "lineage.counts", tenant_id=tenant_id)
        return [KnownCount(**row) for row in rows]


def _made(row: DictRow, *, whole: bool) -> Made:
    given = {key: row[key] for key in _CAUSE if row[key] is not None}
    if given.get("reason"):
        given["reason"] = recalled(row["said"]).get(row["reason"], row["reason"])
    return Made(
        **{key: row[key] for key in _MADE},
        by=Cause(**given),
        before=_state(row, "previous") if whole else None,
        after=_state(row, "new") if whole else None,
    )


def _state(row: DictRow, side: str) -> Snapshot | None:
    content, files = row[f"{side}_content"], row[f"{side}_files"]
    if content is None:
        return None
    refs = {path: FileRef.model_validate(ref) for path, ref in files.items()} if files else None
    return Snapshot(content=content, name=row["name"], files=refs)
