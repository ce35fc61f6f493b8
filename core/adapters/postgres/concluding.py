"""Many new memories in one transaction, with the changes and histories that made them."""

from __future__ import annotations

from collections.abc import Sequence

from psycopg import errors as pg
from psycopg.types.json import Jsonb

from core.adapters.postgres.queries import Connection, sql
from core.adapters.postgres.runs import event_row, write_event
from core.adapters.postgres.search import index_document
from core.domain.errors import Stale, TargetBusy
from core.domain.hashing import same_key
from core.domain.messages import Message
from core.domain.models import Change, ChangeStatus, HistoryRecord, Kind, RunEvent, Scope
from core.domain.ports import Concluded, Routes
from core.knowledge.search.documents import SearchDocument

FILES = ("previous_files", "new_files", "previous_reach", "new_reach")


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
        await _many(conn, "changes.put", change_rows)
        await _many(conn, "knowledge.create", item_rows)
        for change in changes:  # what is in the way shows where the first row is read
            await index_document(conn, _document(change))
    except pg.UniqueViolation as error:
        if error.diag.constraint_name == "changes_open_target":
            said = Message("change.target_busy", kind=changes[0].kind, id=changes[0].target_id)
            raise TargetBusy(said) from error
        raise Stale(Message("change.key_at_once", key=changes[0].key)) from error
    await _many(conn, "changes.record", [history_row(one.history) for one in made])
    params = {"ids": [change.id for change in changes], "status": ChangeStatus.APPLIED}
    await conn.execute(sql("changes.close_all"), params)
    await _tell(conn, [one.event for one in made], routes)


async def _tell(conn: Connection, events: Sequence[RunEvent], routes: Routes) -> None:
    """Write the events: those that go out one by one, with their deliveries."""
    quiet = [event for event in events if not routes(event)]
    rows = [{**event_row(event), "alone": False} for event in quiet]
    await _many(conn, "journal.emit", rows)
    for event in events:
        if routes(event):
            await write_event(conn, event, routes)


async def _many(conn: Connection, block: str, rows: Sequence[dict[str, object]]) -> None:
    async with conn.cursor() as cursor:
        await cursor.executemany(sql(block), rows)


async def _lock(conn: Connection, changes: Sequence[Change]) -> None:
    """Serialise writers of each agent's knowledge; in one order, so that two sets cannot block."""
    for tenant_id, kind, agent_id in sorted({*map(_owner, changes)}):
        params = {"tenant_id": tenant_id, "kind": kind, "agent_id": agent_id}
        await conn.execute(sql("neighbours.lock"), params)


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
    shared = change.after.reach.scope is Scope.TENANT
    return SearchDocument(
        tenant_id=change.tenant_id,
        kind=change.kind,
        item_id=change.target_id,
        agent_id=None if shared else change.agent_id,
        name=change.after.name,
        content=change.after.content,
        files=(),
    )
