"""Changes, their blobs and the transactions that settle them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager

from psycopg import errors as pg
from psycopg.rows import DictRow
from psycopg.types.json import Jsonb
from pydantic import BaseModel

from core.errors import LeaseLost, NotFound, Stale, TargetBusy
from core.models import Change, FileRef
from core.postgres.queries import Pool, fetch_all, fetch_one, sql, transaction
from core.postgres.settlement import PostgresSettlement

_PLAIN = set(Change.model_fields) - {"before", "after", "warnings", "created_at", "applied_at"}


class PostgresChangeLog:
    """The `ChangeLog` port."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def find(self, key: str) -> Change | None:
        """Give the newest attempt under an idempotency key, or None."""
        row = await fetch_one(self._pool, "changes.find", key=key)
        return change_of(row) if row else None

    async def get(self, change_id: str) -> Change:
        """Give a change. Raises NotFound."""
        row = await fetch_one(self._pool, "changes.get", id=change_id)
        if row is None:
            raise NotFound(
                f"there is no change {change_id!r}", hint="see `skill-worker changes list`"
            )
        return change_of(row)

    async def open(self, change: Change, blobs: Mapping[str, bytes]) -> None:
        """Write the intent and its blobs. Raises TargetBusy, LeaseLost, Stale."""
        async with transaction(self._pool) as conn:
            if blobs:
                params = {"hashes": list(blobs), "data": list(blobs.values())}
                await conn.execute(sql("changes.put_blobs"), params)
            try:
                opened = await conn.execute(sql("changes.open"), _row(change))
            except pg.UniqueViolation as error:
                raise _taken(change, error) from error
            if not opened.rowcount:
                raise LeaseLost(f"candidate {change.candidate_id} was taken over")

    async def abandoned(self, older_than: float) -> Sequence[Change]:
        """Give intents older than `older_than` seconds whose feedback has ended, oldest first."""
        rows = await fetch_all(self._pool, "changes.abandoned", seconds=older_than)
        return [change_of(row) for row in rows]

    async def blobs(self, refs: Sequence[FileRef]) -> Mapping[str, bytes]:
        """Give the bytes behind references, by SHA-256. Raises NotFound."""
        hashes = list({ref.sha256 for ref in refs})
        rows = await fetch_all(self._pool, "changes.blobs", hashes=hashes)
        found = {row["sha256"]: bytes(row["data"]) for row in rows}
        missing = set(hashes) - set(found)
        if missing:
            raise NotFound(f"{len(missing)} stored files are missing, {min(missing)} among them")
        return found

    @asynccontextmanager
    async def settle(self, change: Change) -> AsyncIterator[PostgresSettlement]:
        """Open the transaction that ends an intent. Raises LeaseLost, Stale where it ended."""
        async with transaction(self._pool) as conn:
            row = await (await conn.execute(sql("changes.lock"), {"id": change.id})).fetchone()
            if row is None or row["status"] != "applying":
                raise Stale(f"change {change.id} is settled already")
            if change.candidate_id is not None:
                fence = await conn.execute(
                    sql("changes.lock_fence"), {"candidate_id": change.candidate_id}
                )
                held = await fence.fetchone()
                if held is None or held["epoch"] != change.epoch:
                    raise LeaseLost(f"candidate {change.candidate_id} was taken over")
            yield PostgresSettlement(conn)


def _taken(change: Change, error: pg.UniqueViolation) -> TargetBusy | Stale:
    if error.diag.constraint_name == "changes_open_target":
        return TargetBusy(f"{change.kind} {change.target_id!r} is being changed")
    return Stale(f"key {change.key!r} was used at the same time")


def change_of(row: DictRow) -> Change:
    """Read a row of `changes`."""
    return Change.model_validate(dict(row))


def _row(change: Change) -> dict[str, object]:
    row: dict[str, object] = {key: getattr(change, key) for key in _PLAIN}
    row["before"] = _json(change.before)
    row["after"] = _json(change.after)
    row["warnings"] = Jsonb(list(change.warnings))
    return row


def _json(value: BaseModel | None) -> Jsonb | None:
    return None if value is None else Jsonb(value.model_dump(mode="json"))
