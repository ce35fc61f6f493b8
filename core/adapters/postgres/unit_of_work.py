"""One transaction that concludes a change: effects, index, history, status, events."""

from __future__ import annotations

from collections.abc import Sequence

from psycopg import errors as pg
from psycopg.types.json import Jsonb

from core.adapters.postgres.journal import write_event
from core.adapters.postgres.neighbours import lock_skills, refuse_repeated
from core.adapters.postgres.queries import Connection, sql
from core.adapters.postgres.rows import to_said
from core.adapters.postgres.search_index import drop_document, index_document
from core.adapters.postgres.waiting import end_feedback_of_change
from core.decision_table import read_xml, search_text
from core.domain.errors import Stale
from core.domain.hashing import name_key, same_key, state_hash
from core.domain.messages import Message
from core.domain.models import Change, ChangeStatus, HistoryRecord, Kind, RunEvent, Snapshot
from core.knowledge.search.documents import SearchDocument, skill_search_files, skill_search_text

_FILES = ("previous_files", "new_files")


class PostgresUnitOfWork:
    """The `UnitOfWork` port on a connection whose transaction the change log opened.

    `events` are to be announced once it commits.
    """

    def __init__(self, conn: Connection) -> None:
        self._conn = conn
        self.events: list[RunEvent] = []

    async def write_item(self, change: Change) -> None:
        if change.after is not None:
            await refuse_repeated(self._conn, change)
        block = "create" if change.before is None else "supersede" if change.after else "end"
        try:
            written = await self._conn.execute(sql(f"knowledge.{block}"), _version(change))
            done = await written.fetchone()
        except pg.UniqueViolation as error:
            raise Stale(
                Message(
                    "change.exists_meanwhile",
                    "{kind} {name!r} exists meanwhile",
                    kind=change.kind,
                    name=change.target_name,
                )
            ) from error
        if done is None:
            raise Stale(
                Message(
                    "change.target_moved",
                    "{kind} {id!r} has moved on",
                    kind=change.kind,
                    id=change.target_id,
                )
            )
        await self._index(change, change.agent_id)

    async def update_agent_and_tenant_skills(self, change: Change) -> None:
        await lock_skills(self._conn, change)
        verb = "unlist" if change.after is None else "list"
        params = {
            "agent_id": change.agent_id,
            "tenant_id": change.tenant_id,
            "name": change.target_id,
        }
        await self._conn.execute(sql(f"changes.{verb}_agent_skill"), params)
        await self._conn.execute(sql(f"changes.{verb}_tenant_skill"), params)
        await self._index(change, None)

    async def set_agent_skills(self, change: Change) -> None:
        params = {"agent_id": change.target_id}
        await self._conn.execute(sql("changes.lock_agent"), params)
        rows = await (await self._conn.execute(sql("changes.agent_skills"), params)).fetchall()
        present = {row["name"] for row in rows}
        if present != _names(change.before):
            raise Stale(
                Message(
                    "change.skills_moved",
                    "the skills of agent {agent!r} have moved on",
                    agent=change.target_id,
                )
            )
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
            raise Stale(
                Message(
                    "change.skill_deleted",
                    "skill {name!r} was deleted meanwhile",
                    name=gone["name"],
                )
            )

    async def record_knowledge_history(self, history: HistoryRecord) -> None:
        row = history.model_dump(exclude={"created_at", *_FILES})
        files = history.model_dump(mode="json", include=set(_FILES))
        row |= {key: None if files[key] is None else Jsonb(files[key]) for key in _FILES}
        await self._conn.execute(sql("changes.record"), row)

    async def close(self, change_id: str, status: ChangeStatus, error: str | None = None) -> None:
        """Set the final status of a change; if it was held, its feedback may end too."""
        params = {"id": change_id, "status": status, "error": error, "said": to_said(error)}
        row = await (await self._conn.execute(sql("changes.close"), params)).fetchone()
        if row is not None and row["waited"]:
            await end_feedback_of_change(self._conn, change_id, row["feedback_id"])

    async def take_back(self, change_ids: Sequence[str]) -> None:
        await self._conn.execute(sql("changes.take_back"), {"ids": [*change_ids]})

    async def emit(self, event: RunEvent) -> None:
        await write_event(self._conn, event)
        self.events.append(event)

    async def _index(self, change: Change, agent_id: str | None) -> None:
        if change.after is None:
            await drop_document(self._conn, change.tenant_id, change.kind, change.target_id)
            return
        document = SearchDocument(
            tenant_id=change.tenant_id,
            kind=change.kind,
            item_id=change.target_id,
            agent_id=agent_id,
            name=change.after.name,
            content=_searchable(change.kind, change.after),
            files=skill_search_files(change.after.files or ()),
        )
        await index_document(self._conn, document)


def _version(change: Change) -> dict[str, object]:
    content = change.after.content if change.after else ""
    name = change.after.name if change.after else change.target_name
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
    }


def _searchable(kind: Kind, state: Snapshot) -> str:
    if kind is Kind.DMN_RULE:
        return search_text(read_xml(state.content))
    if kind is Kind.SKILL:
        return skill_search_text(state.content)
    return state.content


def _names(state: Snapshot | None) -> set[str]:
    return set(state.content.splitlines()) if state else set()
