"""The runs on record in PostgreSQL: lists of them, and their tags."""

from __future__ import annotations

from collections.abc import Sequence

from psycopg.rows import DictRow

from core.adapters.postgres.queries import Pool, connection, execute, fetch_one, sql
from core.domain.errors import NotFound, Refused
from core.domain.messages import Message
from core.domain.models.recorded_runs import RecordedRun, RunFilter
from core.domain.paging import Position, decode_cursor, encode_cursor, query_digest


class PostgresRunRecords:
    """The `RunRecords` port."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def page(
        self, wanted: RunFilter, *, limit: int, cursor: str | None
    ) -> tuple[Sequence[RecordedRun], str | None]:
        digest = query_digest("runs", wanted)
        after = decode_cursor(cursor, digest) if cursor else None
        rows = await self._rows(
            "run_records.page",
            **wanted.model_dump(),
            at=after.at if after else "infinity",
            id=after.id if after else "",
            limit=limit + 1,
        )
        page = rows[:limit]
        if len(rows) <= limit:
            return [_run(row) for row in page], None
        last = Position(page[-1]["created_at"], page[-1]["id"])
        return [_run(row) for row in page], encode_cursor(last, digest)

    async def get(self, run_id: str) -> RecordedRun:
        name, _, generation = run_id.rpartition(":")
        is_whole = bool(name) and generation.isascii() and generation.isdigit()
        found = await self._rows(
            "run_records.of",
            id=name if is_whole else run_id,
            generation=min(int(generation), 2**31 - 1) if is_whole else None,
        )
        if not found:
            raise NotFound(Message("no.run", id=run_id), hint=Message("see.runs"))
        if len(found) > 1:
            raise Refused(
                Message("run.several", id=run_id, n=len(found)),
                hint=Message("run.name_one", runs=", ".join(row["id"] for row in found)),
            )
        return _run(found[0])

    async def _rows(self, name: str, /, **params: object) -> list[DictRow]:
        query = sql(name).replace("/* columns */", sql("run_records.columns"))
        async with connection(self._pool) as conn:
            return await (await conn.execute(query, params)).fetchall()

    async def tag(self, run: RecordedRun, tags: Sequence[str], *, by: str) -> RecordedRun:
        row = await fetch_one(
            self._pool,
            "run_records.tag",
            run=run.id,
            feedback_id=run.feedback_id,
            tags=[*tags],
            by=by,
        )
        if not row or not row["stored"]:
            raise NotFound(Message("run.pruned", id=run.id), hint=Message("run.hint_pruned"))
        return await self.get(run.id)

    async def untag(self, run: RecordedRun, tags: Sequence[str]) -> RecordedRun:
        await execute(self._pool, "run_records.untag", run=run.id, tags=[*tags])
        return await self.get(run.id)


def _run(row: DictRow) -> RecordedRun:
    return RecordedRun.model_validate(row)
