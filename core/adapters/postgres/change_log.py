"""Changes in PostgreSQL: their log, the lock on a target, and the transaction that ends one."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager

from psycopg import AsyncCursor
from psycopg import errors as pg
from psycopg.rows import DictRow
from psycopg.types.json import Jsonb
from pydantic import BaseModel

from core.adapters.postgres.cases import CasesOfUnit, RunCases
from core.adapters.postgres.concluding import history_row, write_all
from core.adapters.postgres.inbox import end_feedback_of_change
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
from core.adapters.postgres.runs import write_event
from core.adapters.postgres.search import (
    drop_document,
    index_document,
    lock_skills,
    refuse_repeated,
    refuse_skill_beside,
)
from core.decision_table import read_xml, search_text
from core.domain.errors import LeaseLost, NotFound, Stale, TargetBusy, Unforeseen
from core.domain.hashing import name_key, same_key, state_hash
from core.domain.messages import Message
from core.domain.models import (
    NO_USAGE,
    UNBOUNDED,
    Change,
    ChangeStatus,
    FileRef,
    HistoryRecord,
    Kind,
    RestoreRequest,
    RunEvent,
    Scope,
    Snapshot,
)
from core.domain.observers import nobody, nowhere
from core.domain.ports import Concluded, Observer, Routes
from core.knowledge.search.documents import SearchDocument, skill_search_files, skill_search_text


class PostgresUnitOfWork(CasesOfUnit):
    """The `UnitOfWork` port on a connection whose transaction the change log opened.

    `lock` locks the change; its row is read with the first one of the block, to save a trip.
    `events` are to be announced once it commits.
    """

    def __init__(
        self,
        conn: Connection,
        change: Change | None = None,
        lock: AsyncCursor[DictRow] | None = None,
        routes: Routes = nowhere,
        run_cases: RunCases | None = None,
    ) -> None:
        self._conn = conn
        self._run_cases = run_cases
        self._routes = routes
        self._change = change
        self._lock = lock
        self._row: DictRow | None = None
        self.events: list[RunEvent] = []

    async def require_open(self) -> DictRow | None:
        """Return the row of the locked change. Raises LeaseLost, Stale if it is not ours to end."""
        if self._lock is None or self._change is None or self._row is not None:
            return self._row
        self._row = await self._lock.fetchone()
        assert self._row is not None
        if self._change.candidate_id is not None and self._row["epoch"] != self._change.epoch:
            raise LeaseLost(Message("lease.candidate", id=self._change.candidate_id))
        if self._row["status"] != "applying":
            raise Stale(Message("change.settled", id=self._change.id))
        return self._row

    async def write_item(self, change: Change) -> None:
        if change.after is not None:
            await refuse_repeated(self._conn, change)
        await put_item(self._conn, change)

    async def note_package(self, kind: Kind, package: str) -> None:
        params = {"kind": kind, "package": package}
        await self._conn.execute(sql("knowledge.note_package"), params)

    async def update_agent_and_tenant_skills(self, change: Change) -> None:
        await lock_skills(self._conn, change.tenant_id)
        params = {
            "agent_id": change.agent_id,
            "tenant_id": change.tenant_id,
            "name": change.target_id,
        }
        if change.after is None:
            await self._conn.execute(sql("changes.forget_unlistings"), params)
            await self._conn.execute(sql("changes.unlist_skill"), params)
        else:
            if not await self._is_listed_as_before(change, params):
                await self._conn.execute(sql("changes.list_agent_skill"), params)
            await self._conn.execute(sql("changes.list_tenant_skill"), params)
        await put_document(self._conn, change, None)

    async def _is_listed_as_before(self, change: Change, params: dict[str, str]) -> bool:
        """Whether the lists stay, or are those of before a deletion that is undone."""
        is_undone = isinstance(change.request, RestoreRequest)
        if change.before is not None:
            return is_undone  # an earlier state is no reason to list it again
        found = 0
        if is_undone:
            relisted = await self._conn.execute(sql("changes.relist_skill"), params)
            found = len(await relisted.fetchall())
        await self._conn.execute(sql("changes.forget_unlistings"), params)
        return found > 0

    async def set_agent_skills(self, change: Change) -> None:
        # Before the agent's row, in the order of skills that are recorded: no deadlock.
        await lock_skills(self._conn, change.tenant_id)
        params = {"tenant_id": change.tenant_id, "agent_id": change.target_id}
        await self._conn.execute(sql("changes.lock_agent"), params)
        rows = await (await self._conn.execute(sql("changes.agent_skills"), params)).fetchall()
        present = {row["name"] for row in rows}
        if present != _names(change.before):
            raise Stale(Message("change.skills_moved", agent=change.target_id))
        wanted = _names(change.after)
        added, dropped = sorted(wanted - present), sorted(present - wanted)
        await self._see_there(change, added)
        await self._conn.execute(sql("changes.add_agent_skills"), {**params, "names": added})
        await self._conn.execute(sql("changes.drop_agent_skills"), {**params, "names": dropped})

    async def _see_there(self, change: Change, names: Sequence[str]) -> None:
        """Raise Stale if one of these skills was deleted since the change was begun."""
        params = {"change_id": change.id, "names": names}
        gone = await (await self._conn.execute(sql("changes.deleted_since"), params)).fetchone()
        if gone is not None:
            raise Stale(Message("change.skill_deleted", name=gone["name"]))

    async def record_knowledge_history(self, history: HistoryRecord) -> None:
        await self._conn.execute(sql("changes.record"), history_row(history))

    async def close(self, change_id: str, status: ChangeStatus, error: str | None = None) -> None:
        """Set the final status of a change; if it was held, its feedback may end too."""
        params = {"id": change_id, "status": status, "error": error, "said": to_said(error)}
        await self._conn.execute(sql("changes.close"), params)
        row = await self.require_open()
        if row is not None and row["was_held"]:
            await end_feedback_of_change(self._conn, change_id, row["feedback_id"])

    async def take_back(self, change_ids: Sequence[str]) -> None:
        await self._conn.execute(sql("changes.take_back"), {"ids": [*change_ids]})

    async def emit(self, event: RunEvent) -> None:
        await write_event(self._conn, event, self._routes)
        self.events.append(event)


async def put_item(conn: Connection, change: Change) -> None:
    """Write the item of a change, and its document. Raises Stale; the caller commits."""
    block = "create" if change.before is None else "supersede" if change.after else "end"
    shared = change.after is not None and change.after.reach.scope is Scope.TENANT
    try:
        written = await conn.execute(sql(f"knowledge.{block}"), _version(change))
        await put_document(conn, change, None if shared else change.agent_id)
        done = await written.fetchone()
    except pg.UniqueViolation as error:
        raise Stale(
            Message("change.exists_meanwhile", kind=change.kind, name=change.target_name)
        ) from error
    if done is None:
        raise Stale(Message("change.target_moved", kind=change.kind, id=change.target_id))


async def put_document(
    conn: Connection,
    change: Change,
    agent_id: str | None,
    *,
    only: Collection[str] | None = None,
) -> None:
    """Write the search document of what a change makes, or remove it; the caller commits.

    For `only` see `index_document`.
    """
    document = document_of(change, agent_id)
    if document is None:
        await drop_document(conn, change.tenant_id, change.kind, change.target_id)
    else:
        await index_document(conn, document, only=only)


def document_of(change: Change, agent_id: str | None) -> SearchDocument | None:
    """Return what a change makes as it is searched, None of what it deletes."""
    if change.after is None:
        return None
    return SearchDocument(
        tenant_id=change.tenant_id,
        kind=change.kind,
        item_id=change.target_id,
        agent_id=agent_id,
        name=change.after.name,
        content=_searchable(change.kind, change.after),
        files=skill_search_files(change.after.files or ()),
    )


def _version(change: Change) -> dict[str, object]:
    content = change.after.content if change.after else ""
    name = change.after.name if change.after else change.target_name
    reach = change.after.reach if change.after else UNBOUNDED
    return {
        "item_id": change.target_id,
        "kind": change.kind,
        "tenant_id": change.tenant_id,
        "agent_id": change.agent_id,
        "name": name,
        "name_key": name_key(name),
        "content": content,
        "hash": state_hash(change.after),
        "same_key": same_key(content),
        "base_hash": change.base_hash,
        "relationship": change.relationship,
        "change_id": change.id,
        "feedback_id": change.feedback_id,
        "valid_until": reach.valid_until,
        "scope": reach.scope,
        "scope_user": reach.user,
    }


def _searchable(kind: Kind, state: Snapshot) -> str:
    if kind is Kind.DMN_RULE:
        return search_text(read_xml(state.content))
    if kind is Kind.SKILL:
        return skill_search_text(state.content)
    return state.content


def _names(state: Snapshot | None) -> set[str]:
    return set(state.content.splitlines()) if state else set()


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
        rows, items = [*map(change_row, opened)], [*map(_version, opened)]
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
