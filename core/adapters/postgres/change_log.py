"""Changes in PostgreSQL: their log, the lock on a target, and what made targets what they are."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager

from psycopg import errors as pg
from psycopg.rows import DictRow
from psycopg.types.json import Jsonb
from pydantic import BaseModel

from core.adapters.postgres.cases import RunCases
from core.adapters.postgres.queries import (
    Connection,
    Pool,
    connection,
    execute,
    fetch_all,
    fetch_one,
    findings_json,
    recalled,
    sql,
    to_said,
    transaction,
    writing,
)
from core.adapters.postgres.search import (
    lock_skills,
    refuse_skill_beside,
)
from core.adapters.postgres.unit_of_work import PostgresUnitOfWork, version_row, write_all
from core.domain.errors import LeaseLost, NotFound, Stale, TargetBusy, Unforeseen
from core.domain.messages import Message
from core.domain.models import (
    NO_USAGE,
    Change,
    ChangeStatus,
    FileRef,
    HistoryRecord,
    Kind,
    LaterWord,
    RunEvent,
)
from core.domain.observers import nobody, nowhere
from core.domain.ports import Concluded, Observer, Routes

_STATEMENT_BYTES = 2**20
_MODELS = ("before", "after", "request", "proposed")
_LISTS = ("warnings", "held", "retracts", "retires", "breaks")
_SAID, _SAYINGS = ("reason", "error", "decision"), ("warnings", "held")
_PLAIN = set(Change.model_fields) - {
    *_MODELS,
    *_LISTS,
    "created_at",
    "applied_at",
    "asker",
    "tried",
    "findings",
    "cases",
}
_WHOSE = {
    *("tenant_id", "agent_id", "kind", "target_id"),
    *("operation", "feedback_id", "said_at", "heard_at"),
}


class PostgresChangeLog:
    """The `ChangeLog` port; `observe` is called with each event once it is committed."""

    def __init__(
        self,
        pool: Pool,
        observe: Observer = nobody,
        routes: Routes = nowhere,
        run_cases: RunCases | None = None,
    ) -> None:
        self._pool = pool
        self._routes = routes
        self._observe = observe
        self._run_cases = run_cases

    async def find(self, key: str) -> Change | None:
        row = await fetch_one(self._pool, "changes.find", key=key)
        return change_of(row) if row else None

    async def find_all(self, keys: Sequence[str]) -> Mapping[str, Change]:
        rows = await fetch_all(self._pool, "changes.find_all", keys=[*keys])
        return {row["key"]: change_of(row) for row in rows}

    async def conclude(self, made: Sequence[Concluded]) -> None:
        opened = [c.model_copy(update={"status": ChangeStatus.APPLYING}) for c, _, _ in made]
        rows, items = [*map(change_row, opened)], [*map(version_row, opened)]
        async with writing(self._pool) as conn:
            await write_all(conn, made, rows, items, self._routes)
        for one in made:
            self._observe(one.event, NO_USAGE)

    async def get(self, change_id: str) -> Change:
        row = await fetch_one(self._pool, "changes.get", id=change_id)
        if row is None:
            raise NotFound(Message("no.change", id=change_id), hint=Message("see.changes"))
        return change_of(row)

    async def open(self, change: Change, blobs: Mapping[str, bytes]) -> None:
        # A single statement is its own transaction: that saves the trips for BEGIN and COMMIT.
        is_one_statement = change.kind is not Kind.SKILL and not blobs
        async with (connection if is_one_statement else transaction)(self._pool) as conn:
            await _put(conn, change, blobs)
            await refuse_skill_beside(conn, change)
            await refuse_unforeseen(conn, change)

    async def store(
        self,
        change: Change,
        blobs: Mapping[str, bytes],
        event: RunEvent,
        history: HistoryRecord | None = None,
    ) -> None:
        async with transaction(self._pool) as conn:
            await _put(conn, change, blobs)
            unit = PostgresUnitOfWork(conn, routes=self._routes)
            if history is not None:
                await unit.record_knowledge_history(history)
            if change.status is ChangeStatus.APPLIED:
                await unit.close(change.id, change.status)
            await unit.emit(event)
        self._tell(unit)

    async def blobs(self, refs: Sequence[FileRef]) -> Mapping[str, bytes]:
        hashes = list({ref.sha256 for ref in refs})
        found: dict[str, bytes] = {}
        async with connection(self._pool) as conn:
            # As bytes, not as digits, and a row at a time: 20 MB held the event loop for a second.
            asked = await conn.execute(sql("changes.blobs"), {"hashes": hashes}, binary=True)
            async for row in asked:
                found[row["sha256"]] = bytes(row["data"])
        missing = set(hashes) - set(found)
        if missing:
            raise NotFound(Message("change.files_missing", n=len(missing), first=min(missing)))
        return found

    @asynccontextmanager
    async def unit_of_work(self, change: Change) -> AsyncIterator[PostgresUnitOfWork]:
        async with writing(self._pool) as conn:
            params = {"id": change.id, "candidate_id": change.candidate_id}
            lock = await conn.execute(sql("changes.lock"), params)
            unit = PostgresUnitOfWork(conn, change, lock, self._routes, self._run_cases)
            try:
                yield unit
            finally:  # what stands in the way of the change explains what went wrong in the block
                await unit.require_open()
        self._tell(unit)

    def _tell(self, unit: PostgresUnitOfWork) -> None:
        for event in unit.events:
            self._observe(event, NO_USAGE)


def _taken(change: Change, error: pg.UniqueViolation) -> TargetBusy | Stale:
    if error.diag.constraint_name == "changes_open_target":
        target = str(change.target_id)  # what has none is not in that index
        return TargetBusy(Message("change.target_busy", kind=change.kind, id=target))
    return Stale(Message("change.key_at_once", key=change.key))


async def put_change(conn: Connection, change: Change) -> None:
    """Write a change over its target lock, if any. Raises TargetBusy, LeaseLost, Stale."""
    try:
        written = await conn.execute(sql("changes.put"), change_row(change))
    except pg.UniqueViolation as error:
        raise _taken(change, error) from error
    if written.rowcount:
        return
    if change.candidate_id is None:
        raise Stale(Message("change.settled", id=change.id))
    raise LeaseLost(Message("lease.candidate", id=change.candidate_id))


async def put_blobs(conn: Connection, tenant_id: str, blobs: Mapping[str, bytes]) -> None:
    """Store file contents of a tenant by SHA-256; existing ones stay."""
    for part in _parts(blobs):
        params = {"hashes": list(part), "data": list(part.values()), "tenant_id": tenant_id}
        await conn.execute(sql("changes.put_blobs"), params)


def _parts(blobs: Mapping[str, bytes]) -> Iterator[Mapping[str, bytes]]:
    """Yield the contents in statements of about a megabyte: the driver blocks while it writes one.

    The usual skill is one of them.
    """
    part: dict[str, bytes] = {}
    size = 0
    for key, data in blobs.items():
        if part and size + len(data) > _STATEMENT_BYTES:
            yield part
            part, size = {}, 0
        part[key] = data
        size += len(data)
    if part:
        yield part


async def refuse_unforeseen(conn: Connection, change: Change) -> None:
    """Check that nobody has put the skill on a list which is about to be deleted.

    The intent is written in the same transaction. Who lists a skill takes the same lock and then
    looks for such intents: either this sees the list, or that sees the intent. Raises Unforeseen.
    """
    if change.kind is not Kind.SKILL or change.after is not None:
        return
    await lock_skills(conn, change.tenant_id)
    foreseen = [change.agent_id, *(lister.id for lister in change.listed_by)]
    params = {"tenant_id": change.tenant_id, "name": change.target_id, "foreseen": foreseen}
    row = await (await conn.execute(sql("changes.unforeseen_listers"), params)).fetchone()
    if row is not None:
        raise Unforeseen(
            Message("skill.listed_meanwhile", name=change.target_id, agent=row["agent_id"])
        )


async def _put(conn: Connection, change: Change, blobs: Mapping[str, bytes]) -> None:
    await put_blobs(conn, change.tenant_id, blobs)
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
    row["findings"] = Jsonb(findings_json(change.findings))
    row["cases"] = Jsonb([case.model_dump(mode="json") for case in change.cases])
    return row | {key: Jsonb(list(getattr(change, key))) for key in _LISTS}


def _json(value: BaseModel | None) -> Jsonb | None:
    return None if value is None else Jsonb(value.model_dump(mode="json"))


class PostgresTargetLocks:
    """The `TargetLocks` port."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def acquire(self, change: Change) -> None:
        try:
            await self._put(change)
        except TargetBusy:
            target = {"tenant_id": change.tenant_id, "kind": change.kind}
            freed = await execute(
                self._pool, "changes.release_dead", **target, target_id=change.target_id
            )
            if not freed:
                raise
            await self._put(change)

    async def release(self, change_id: str) -> None:
        await execute(self._pool, "changes.release", id=change_id)

    async def unfinished(self, candidate_id: str) -> Sequence[Change]:
        rows = await fetch_all(self._pool, "changes.unfinished", candidate_id=candidate_id)
        return [change_of(row) for row in rows]

    async def latest(self, tenant_id: str, kind: Kind, target_id: str) -> Change | None:
        target = {"tenant_id": tenant_id, "kind": kind, "target_id": target_id}
        row = await fetch_one(self._pool, "changes.latest", **target)
        return change_of(row) if row else None

    async def abandoned(self, older_than: float) -> Sequence[Change]:
        rows = await fetch_all(self._pool, "changes.abandoned", seconds=older_than)
        return [change_of(row) for row in rows]

    async def adopt(self, change: Change) -> Change | None:
        row = await fetch_one(self._pool, "changes.adopt", id=change.id)
        return change_of(row) if row else None

    async def _put(self, change: Change) -> None:
        async with transaction(self._pool) as conn:
            await put_change(conn, change)


class PostgresSteps:
    """The `Steps` port."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def of_feedback(self, feedback_id: str) -> Sequence[Change]:
        rows = await fetch_all(self._pool, "steps.of_feedback", feedback_id=feedback_id)
        return [change_of(row) for row in rows]

    async def chain(self, kind: Kind, tenant_id: str, target_id: str) -> Sequence[Change]:
        target = {"kind": kind, "tenant_id": tenant_id, "target_id": target_id}
        return [change_of(row) for row in await fetch_all(self._pool, "steps.chain", **target)]

    async def later(self, change: Change) -> Sequence[LaterWord]:
        rows = await fetch_all(self._pool, "steps.later", **change.picked(*_WHOSE))
        return [LaterWord.model_validate(row) for row in rows]

    async def take_back(self, change_ids: Sequence[str]) -> None:
        await execute(self._pool, "changes.take_back", ids=[*change_ids])
