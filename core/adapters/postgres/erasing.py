"""A person's words out of all tables, in one transaction, and what of them is left."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

from core.adapters.postgres.queries import Connection, Pool, fetch_all, sql, transaction
from core.adapters.postgres.runs import forget_runs, write_event
from core.domain.errors import Refused
from core.domain.messages import Message
from core.domain.models import NO_USAGE, RunEvent
from core.domain.models.audit import ERASED, ErasedTenant, LeftItem, SaidPiece
from core.domain.models.feedback import is_reserved
from core.domain.observers import nobody, nowhere
from core.domain.ports import NewId, Observer, Routes
from core.domain.tasks import in_name_of

_STATE = {"content": ERASED, "name": ERASED}
_IN_WORK = frozenset({"queued", "processing"})
_EMPTIED = (  # in this order: what is emptied later is found by what is emptied before
    "empty_candidates",
    "empty_words",
    "drop_messages",
    "drop_repeated",
    "drop_events",
    "empty_deliveries",
    "empty_attempts",
    "empty_notes",
    "end_items",
    "drop_uses",
    "drop_cases",
    "drop_documents",
    "drop_evidence",
    "drop_answers",
)
_UNNAMED = (
    *("empty_states", "unname_changes", "unname_calls", "unname_events"),
    *("unname_proposals", "unname_tags", "unname_forks", "unname_cases", "unname_deliveries"),
)


class PostgresErasing:
    """The `Erasing` port; `observe` is called with each event once it is committed."""

    def __init__(
        self, pool: Pool, new_id: NewId, observe: Observer = nobody, routes: Routes = nowhere
    ) -> None:
        self._pool = pool
        self._new_id = new_id
        self._observe = observe
        self._routes = routes

    async def tenants(self, author: str, tenant_id: str | None) -> Sequence[str]:
        rows = await fetch_all(self._pool, "erasing.tenants", author=author, only=tenant_id)
        return [row["tenant_id"] for row in rows]

    async def said(self, author: str, tenant_id: str) -> Sequence[SaidPiece]:
        rows = await fetch_all(self._pool, "erasing.said", author=author, tenant_id=tenant_id)
        return [
            SaidPiece(id=row["id"], status=row["status"], is_named=row["is_named"]) for row in rows
        ]

    async def held(self, feedback_ids: Sequence[str]) -> Sequence[str]:
        rows = await fetch_all(self._pool, "erasing.held", ids=[*feedback_ids])
        return [row["id"] for row in rows]

    async def token(self, author: str) -> str | None:
        rows = await fetch_all(self._pool, "erasing.tokens", author=author)
        return rows[0]["name"] if rows else None

    async def erase(self, author: str, tenant_id: str, by: str, *, dry_run: bool) -> ErasedTenant:
        # Over all tenants a file that another has as well would stay.
        with in_name_of(tenant_id):
            return await self._erase(author, tenant_id, by, dry_run=dry_run)

    async def _erase(self, author: str, tenant_id: str, by: str, *, dry_run: bool) -> ErasedTenant:
        async with transaction(self._pool) as conn:
            whose = {"author": author, "tenant_id": tenant_id}
            said = await _rows(conn, "said", whose)
            found = _Found(conn, whose, said, self._routes)
            await found.look()
            if not dry_run:
                await found.refuse_work()
                await found.empty()
                covers = await found.drop_salts()
                if found.is_changed or covers:
                    params = {**whose, "id": self._new_id(), "by": by, "covers": Jsonb(covers)}
                    await conn.execute(sql("erasing.record"), params)
                await found.tell()
        for event in () if dry_run else found.events:
            self._observe(event, NO_USAGE)
        return found.told


class _Found:
    """What there is of a person in one tenant, on the connection of the transaction."""

    def __init__(
        self, conn: Connection, whose: Mapping[str, str], said: Sequence[DictRow], routes: Routes
    ) -> None:
        self._conn, self._whose, self._said, self._routes = conn, whose, said, routes
        self.events: Sequence[RunEvent] = ()
        self._params: dict[str, object] = {**whose, "ids": [row["id"] for row in said]}
        self._counts: dict[str, int] = {}
        self._beside: Sequence[DictRow] = ()
        self._left: Sequence[LeftItem] = ()
        self._past: list[str] = []
        self._subjects: dict[str, list[str]] = {}

    @property
    def told(self) -> ErasedTenant:
        """Return the numbers, and what is left."""
        counts = self._counts
        return ErasedTenant(
            tenant_id=self._whose["tenant_id"],
            feedback=counts.get("empty_feedback", sum(row["is_named"] for row in self._said)),
            changes=counts["empty_words"],
            history=counts.get("empty_history", 0),
            items=counts["end_items"],
            names=sum(n for block, n in counts.items() if block.startswith("unname")),
            runs_of_others=len(self._beside),
            left=tuple(self._left),
            sent=Counter(route.target for event in self.events for route in self._routes(event)),
            sources=Counter(row["source"] for row in self._said),
        )

    @property
    def is_changed(self) -> bool:
        """Whether anything was erased."""
        return any(self._counts.values())

    async def look(self) -> None:
        """Find what is to be emptied, and what is left."""
        changes = await self._read("changes")
        empty = [c for c in changes if c["is_gone"] or (c["is_void"] and c["is_own"])]
        gone = {(c["kind"], c["target_id"]) for c in changes if c["is_gone"]}
        self._params |= {
            "words": [c["id"] for c in changes if c["is_own"] or c["is_gone"]],
            "empty": [c["id"] for c in empty],
            "gone": [c["id"] for c in changes if c["is_gone"]],
            "kinds": [kind for kind, _ in gone],
            "items": [item for _, item in gone],
            "state": Jsonb(_STATE),
        }
        self._params["all"] = [*self._ids("ids"), *self._ids("words")]
        self._left = _left(changes)
        self._beside = await self._read("beside")
        known = [
            (row, _erased(row, self._whose["tenant_id"])) for row in await self._read("on_record")
        ]
        self.events = [
            event
            for row, event in known
            if row["is_fresh"] or (not row["is_told"] and self._routes(event))
        ]
        self._counts = {"empty_words": len(self._ids("words")), "end_items": len(gone)}

    async def refuse_work(self) -> None:
        """Raise Refused while a worker is at any of it: it would write it again."""
        for row in await self._read("in_work"):
            said = Message("erase.in_work", kind=row["kind"], id=row["id"])
            raise Refused(said, hint=Message("erase.again"))
        for row in self._beside:
            if row["status"] in _IN_WORK:
                said = Message("erase.beside", id=row["id"])
                raise Refused(said, hint=Message("erase.again"))

    async def empty(self) -> None:
        """Empty all tables of it."""
        hashes = [row["sha256"] for row in await self._read("blobs")]
        self._params["hashes"] = hashes
        await forget_runs_of(self._conn, [*self._said, *self._beside])
        await self._run("drop_locks")
        for block in _EMPTIED:
            self._counts[block] = await self._run(block)
        histories = [row["id"] for row in await self._read("empty_history")]
        self._past = [row["id"] for row in await self._read("empty_past")]
        decided = [row["id"] for row in await self._read("unname_decisions")]
        self._counts["unname_decisions"] = len(decided)
        for block in _UNNAMED:
            self._counts[block] = await self._run(block)
        self._counts["empty_feedback"] = await self._run("empty_feedback")
        self._counts["empty_history"] = len({*histories, *self._past})
        self._subjects = {"history": [*histories, *self._past], "decision": decided}
        if hashes:
            await self._run("drop_blobs")

    async def drop_salts(self) -> Mapping[str, list[str]]:
        """Drop the salts of erased contents; return which contents, by kind and id of the row."""
        covers: dict[str, list[str]] = {}
        for kind, subjects in self._subjects.items():
            params = {"kind": kind, "subjects": subjects, "past": self._past}
            for row in await _rows(self._conn, "drop_salts", params):
                covers[f"{row['kind']}:{row['subject']}"] = sorted(row["gone"])
        return covers

    async def tell(self) -> None:
        """Write which changes are emptied, and what goes out of that."""
        for event in self.events:
            await write_event(self._conn, event, self._routes)

    def _ids(self, name: str) -> list[str]:
        found = self._params[name]
        assert isinstance(found, list)
        return found

    async def _read(self, block: str) -> Sequence[DictRow]:
        return await _rows(self._conn, block, self._params)

    async def _run(self, block: str) -> int:
        return (await self._conn.execute(sql(f"erasing.{block}"), self._params)).rowcount


async def forget_runs_of(conn: Connection, rows: Sequence[DictRow]) -> None:
    """Delete the runs of feedback, if there is any."""
    if rows:
        await forget_runs(conn, rows)


async def _rows(conn: Connection, block: str, params: Mapping[str, object]) -> Sequence[DictRow]:
    return await (await conn.execute(sql(f"erasing.{block}"), params)).fetchall()


def _erased(row: DictRow, tenant_id: str) -> RunEvent:
    """Return the event that the record of a change is emptied."""
    data = {key: row[key] for key in ("kind", "operation", "target_id", "agent_id")}
    if is_reserved(row["agent_id"]):
        data["lesson"] = True  # goes out to nobody, as it did not before
    return RunEvent(
        name="change.erased",
        tenant_id=tenant_id,
        feedback_id=row["feedback_id"],
        change_id=row["id"],
        data=data,
    )


def _left(changes: Sequence[DictRow]) -> Sequence[LeftItem]:
    """Return the items that stay: they stand, or others taught them too."""
    by_item: dict[tuple[str, str], list[DictRow]] = defaultdict(list)
    for change in changes:
        if change["is_own"] and not change["is_gone"] and not change["is_void"]:
            by_item[change["kind"], change["target_id"]].append(change)
    return [
        LeftItem(
            kind=kind,
            id=item_id,
            name=own[-1]["target_name"],
            feedback_ids=tuple(dict.fromkeys(change["feedback_id"] for change in own)),
            by_others=own[-1]["by_others"],
        )
        for (kind, item_id), own in by_item.items()
        if own[-1]["target_name"] != ERASED
    ]
