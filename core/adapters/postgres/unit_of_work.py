"""The transaction that ends a change in PostgreSQL, or makes many items: item, index, history."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import AsyncIterator, Collection, Iterable, Sequence
from contextlib import asynccontextmanager

from psycopg import AsyncCursor
from psycopg import errors as pg
from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

from core.adapters.postgres.cases import CasesOfUnit, RunCases
from core.adapters.postgres.inbox import end_feedback_of_change
from core.adapters.postgres.queries import (
    Connection,
    sql,
    to_said,
)
from core.adapters.postgres.runs import event_row, write_event
from core.adapters.postgres.search import (
    drop_document,
    index_document,
    index_new,
    lock_skills,
    lock_writers,
    refuse_repeated,
)
from core.decision_table import read_xml, search_text
from core.domain.errors import LeaseLost, Stale, TargetBusy
from core.domain.hashing import name_key, same_key, state_hash
from core.domain.messages import Message
from core.domain.models import (
    UNBOUNDED,
    Change,
    ChangeStatus,
    HistoryRecord,
    Kind,
    RestoreRequest,
    RunEvent,
    Snapshot,
)
from core.domain.observers import nowhere
from core.domain.ports import Concluded, Routes
from core.knowledge.search.documents import SearchDocument, skill_search_files, skill_search_text

FILES = ("previous_files", "new_files", "previous_reach", "new_reach")


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
        async with item_put(self._conn, change):
            await self.ask_seen(change)

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


@asynccontextmanager
async def item_put(conn: Connection, change: Change) -> AsyncIterator[None]:
    """Write the item of a change, and its document; what the block asks first travels along.

    Raises Stale, at the first answer to the block or at its end; the caller commits.
    """
    block = "create" if change.before is None else "supersede" if change.after else "end"
    owner = None if change.is_for_tenant else change.agent_id
    try:
        written = await conn.execute(sql(f"knowledge.{block}"), version_row(change))
        is_new = change.before is None
        await put_document(conn, change, owner, is_new=is_new)
        yield
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
    is_new: bool = False,
) -> None:
    """Write the search document of what a change makes, or remove it; the caller commits.

    For `only` and `is_new` see `index_document`.
    """
    document = document_of(change, agent_id)
    if document is None:
        await drop_document(conn, change.tenant_id, change.kind, change.target_id)
    else:
        await index_document(conn, document, only=only, is_new=is_new)


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


def version_row(change: Change) -> dict[str, object]:
    """Return the version of its item that a change makes, as statement parameters."""
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


def history_row(history: HistoryRecord) -> dict[str, object]:
    """Return a history record as statement parameters, by column name."""
    row = history.model_dump(exclude={"created_at", *FILES})
    files = history.model_dump(mode="json", include=set(FILES))
    return row | {key: None if files[key] is None else Jsonb(files[key]) for key in FILES}


async def write_all(
    conn: Connection,
    made: Sequence[Concluded],
    change_rows: Sequence[dict[str, object]],
    item_rows: Sequence[dict[str, object]],
    routes: Routes,
) -> None:
    """Write new items with all that belongs to them. Raises Stale or TargetBusy if one is taken.

    Statements of one kind go out together: the trips to the server were most of the time.
    """
    changes = [one.change for one in made]
    await _lock(conn, changes)
    await _refuse_taken(conn, changes)
    try:
        await _many(conn, "changes.put_all", change_rows)
        await _many(conn, "knowledge.create_all", item_rows)
        for own in _alike(map(_document, changes)):
            await index_new(conn, own)
    except pg.UniqueViolation as error:
        if error.diag.constraint_name == "changes_open_target":
            said = Message("change.target_busy", kind=changes[0].kind, id=changes[0].target_id)
            raise TargetBusy(said) from error
        raise Stale(Message("change.key_at_once", key=changes[0].key)) from error
    await _many(conn, "changes.record_all", [history_row(one.history) for one in made])
    params = {"ids": [change.id for change in changes], "status": ChangeStatus.APPLIED}
    await conn.execute(sql("changes.close_all"), params)
    await _tell(conn, [one.event for one in made], routes)


async def _tell(conn: Connection, events: Sequence[RunEvent], routes: Routes) -> None:
    """Write the events: those that go out one by one, with their deliveries."""
    quiet = [event for event in events if not routes(event)]
    await _many(conn, "journal.emit_all", [*map(event_row, quiet)])
    for event in events:
        if routes(event):
            await write_event(conn, event, routes)


async def _many(conn: Connection, block: str, rows: Sequence[dict[str, object]]) -> None:
    """Run a statement on all rows at once, by column name."""
    await conn.execute(sql(block), {"rows": json.dumps(rows, ensure_ascii=False, default=_plain)})


def _plain(value: object) -> object:
    return value.obj if isinstance(value, Jsonb) else str(value)


def _alike(documents: Iterable[SearchDocument]) -> Iterable[Sequence[SearchDocument]]:
    """Return documents by tenant and kind."""
    found: defaultdict[tuple[str, Kind], list[SearchDocument]] = defaultdict(list)
    for document in documents:
        found[document.tenant_id, document.kind].append(document)
    return found.values()


async def _lock(conn: Connection, changes: Sequence[Change]) -> None:
    """Serialise writers of each agent's knowledge; in one order, so that two sets cannot block."""
    shared = {(change.tenant_id, change.kind) for change in changes if change.is_for_tenant}
    for owner in sorted({*map(_owner, changes)}):
        await lock_writers(conn, *owner, is_shared=owner[:2] in shared)


async def _refuse_taken(conn: Connection, changes: Sequence[Change]) -> None:
    """Raise Stale if an id or a text was taken since the changes were prepared."""
    for owner in {*map(_owner, changes)}:
        tenant_id, kind, agent_id = owner
        own = [change for change in changes if _owner(change) == owner]
        params = {
            "tenant_id": tenant_id,
            "kind": kind,
            "agent_id": agent_id,
            "ids": [change.target_id for change in own],
            "same_keys": [same_key(change.after.content) for change in own if change.after],
        }
        row = await (await conn.execute(sql("knowledge.taken"), params)).fetchone()
        if row is not None:
            raise Stale(Message("change.exists_meanwhile", kind=kind, name=row["name"]))


def _owner(change: Change) -> tuple[str, Kind, str]:
    return change.tenant_id, change.kind, change.agent_id


def _document(change: Change) -> SearchDocument:
    assert change.after is not None
    return SearchDocument(
        tenant_id=change.tenant_id,
        kind=change.kind,
        item_id=change.target_id,
        agent_id=None if change.is_for_tenant else change.agent_id,
        name=change.after.name,
        content=change.after.content,
        files=(),
    )
