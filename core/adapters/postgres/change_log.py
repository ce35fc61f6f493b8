"""Changes, their blobs and the transactions that conclude them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager

from psycopg import errors as pg
from psycopg.rows import DictRow
from psycopg.types.json import Jsonb
from pydantic import BaseModel

from core.adapters.postgres.neighbours import refuse_skill_beside
from core.adapters.postgres.queries import (
    Connection,
    Pool,
    connection,
    fetch_all,
    fetch_one,
    sql,
    transaction,
    writing,
)
from core.adapters.postgres.rows import recalled, to_said
from core.adapters.postgres.unit_of_work import PostgresUnitOfWork
from core.domain.errors import LeaseLost, NotFound, Stale, TargetBusy
from core.domain.messages import Message
from core.domain.models import NO_USAGE, Change, FileRef, HistoryRecord, Kind, RunEvent
from core.domain.observers import nobody
from core.domain.ports import Observer

_MODELS = ("before", "after", "request")
_LISTS = ("warnings", "held", "retracts")
_SAID, _SAYINGS = ("reason", "error", "decision"), ("warnings", "held")
_PLAIN = set(Change.model_fields) - {*_MODELS, *_LISTS, "created_at", "applied_at"}


class PostgresChangeLog:
    """The `ChangeLog` port; `observe` is called with each event once it is committed."""

    def __init__(self, pool: Pool, observe: Observer = nobody) -> None:
        self._pool = pool
        self._observe = observe

    async def find(self, key: str) -> Change | None:
        row = await fetch_one(self._pool, "changes.find", key=key)
        return change_of(row) if row else None

    async def get(self, change_id: str) -> Change:
        row = await fetch_one(self._pool, "changes.get", id=change_id)
        if row is None:
            raise NotFound(
                Message("no.change", "there is no change {id!r}", id=change_id),
                hint=Message("see.changes", "see `skill-worker changes list`"),
            )
        return change_of(row)

    async def open(self, change: Change, blobs: Mapping[str, bytes]) -> None:
        # A single statement is its own transaction: that saves the trips for BEGIN and COMMIT.
        is_one_statement = change.kind is not Kind.SKILL and not blobs
        async with (connection if is_one_statement else transaction)(self._pool) as conn:
            await _put(conn, change, blobs)
            await refuse_skill_beside(conn, change)

    async def store(
        self,
        change: Change,
        blobs: Mapping[str, bytes],
        event: RunEvent,
        history: HistoryRecord | None = None,
    ) -> None:
        async with transaction(self._pool) as conn:
            await _put(conn, change, blobs)
            unit = PostgresUnitOfWork(conn)
            if history is not None:
                await unit.record_knowledge_history(history)
            await unit.emit(event)
        self._tell(unit)

    async def blobs(self, refs: Sequence[FileRef]) -> Mapping[str, bytes]:
        hashes = list({ref.sha256 for ref in refs})
        rows = await fetch_all(self._pool, "changes.blobs", hashes=hashes)
        found = {row["sha256"]: bytes(row["data"]) for row in rows}
        missing = set(hashes) - set(found)
        if missing:
            raise NotFound(
                Message(
                    "change.files_missing",
                    "{n} stored files are missing, {first} among them",
                    n=len(missing),
                    first=min(missing),
                )
            )
        return found

    @asynccontextmanager
    async def unit_of_work(self, change: Change) -> AsyncIterator[PostgresUnitOfWork]:
        async with writing(self._pool) as conn:
            params = {"id": change.id, "candidate_id": change.candidate_id}
            row = await (await conn.execute(sql("changes.lock"), params)).fetchone()
            assert row is not None
            if change.candidate_id is not None and row["epoch"] != change.epoch:
                raise LeaseLost(f"candidate {change.candidate_id} was taken over")
            if row["status"] != "applying":
                raise Stale(
                    Message("change.settled", "change {id} is settled already", id=change.id)
                )
            unit = PostgresUnitOfWork(conn)
            yield unit
        self._tell(unit)

    def _tell(self, unit: PostgresUnitOfWork) -> None:
        for event in unit.events:
            self._observe(event, NO_USAGE)


def _taken(change: Change, error: pg.UniqueViolation) -> TargetBusy | Stale:
    if error.diag.constraint_name == "changes_open_target":
        return TargetBusy(
            Message(
                "change.target_busy",
                "{kind} {id!r} is being changed",
                kind=change.kind,
                id=change.target_id,
            )
        )
    return Stale(
        Message("change.key_at_once", "key {key!r} was used at the same time", key=change.key)
    )


async def put_change(conn: Connection, change: Change) -> None:
    """Write a change over its target lock, if any. Raises TargetBusy, LeaseLost, Stale."""
    try:
        written = await conn.execute(sql("changes.put"), change_row(change))
    except pg.UniqueViolation as error:
        raise _taken(change, error) from error
    if not written.rowcount:
        raise LeaseLost(f"candidate {change.candidate_id} was taken over")


async def put_blobs(conn: Connection, blobs: Mapping[str, bytes]) -> None:
    """Store file contents by SHA-256; existing ones stay."""
    if blobs:
        params = {"hashes": list(blobs), "data": list(blobs.values())}
        await conn.execute(sql("changes.put_blobs"), params)


async def _put(conn: Connection, change: Change, blobs: Mapping[str, bytes]) -> None:
    await put_blobs(conn, blobs)
    await put_change(conn, change)


def change_of(row: DictRow) -> Change:
    """Build a change from a row of `changes`."""
    data = dict(row)
    known = recalled(data.pop("said", None))
    if known:
        data |= {name: known.get(data[name], data[name]) for name in _SAID}
        data |= {name: [known.get(text, text) for text in data[name]] for name in _SAYINGS}
    return Change.model_validate(data)


def change_row(change: Change) -> dict[str, object]:
    """Return a change as statement parameters, by column name."""
    row: dict[str, object] = {key: getattr(change, key) for key in _PLAIN}
    row |= {key: _json(getattr(change, key)) for key in _MODELS}
    row["said"] = to_said(change.reason, change.error, *change.warnings, *change.held)
    return row | {key: Jsonb(list(getattr(change, key))) for key in _LISTS}


def _json(value: BaseModel | None) -> Jsonb | None:
    return None if value is None else Jsonb(value.model_dump(mode="json"))
