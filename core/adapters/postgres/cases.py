"""Cases in PostgreSQL: kept with the change that they came with, found by what a change brings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from psycopg import AsyncCursor
from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

from core.adapters.postgres.queries import (
    Connection,
    Pool,
    connection,
    execute,
    fetch_all,
    fetch_one,
    joined,
    recalled,
    sql,
    to_said,
    transaction,
)
from core.adapters.postgres.runs import write_event
from core.changes.cases.proposed import asked_words, brought_words, name_word
from core.domain.errors import NotFound
from core.domain.messages import Message
from core.domain.models import NO_USAGE, Change, Kind, RunEvent, Scope
from core.domain.models.cases import (
    MOST_IN_REACH,
    Case,
    CaseCounts,
    CaseFilter,
    CaseResult,
    CasesInReach,
    CaseStatus,
    CasesTried,
    ItemKey,
)
from core.domain.observers import nobody, nowhere
from core.domain.paging import Position, decode_cursor, encode_cursor, query_digest
from core.domain.ports import Observer, Routes

_KINDS = (Kind.MEMORY, Kind.DMN_RULE, Kind.SKILL)


class RunCases(Protocol):
    """Runs cases on what a transaction has made so far."""

    async def __call__(self, conn: Connection, cases: Sequence[Case]) -> Sequence[CaseResult]:
        """Return how they end."""


class PostgresCases:
    """The `Cases` port; `observe` is called with each event once it is committed."""

    def __init__(self, pool: Pool, observe: Observer = nobody, routes: Routes = nowhere) -> None:
        self._pool = pool
        self._observe = observe
        self._routes = routes

    async def page(
        self, wanted: CaseFilter, *, limit: int, cursor: str | None
    ) -> tuple[Sequence[Case], str | None]:
        digest = query_digest("cases", wanted)
        after = decode_cursor(cursor, digest) if cursor else None
        rows = await fetch_all(
            self._pool,
            "cases.page",
            **wanted.model_dump(),
            at=after.at if after else "infinity",
            id=after.id if after else "",
            limit=limit + 1,
        )
        page = [case_of(row) for row in rows[:limit]]
        if len(rows) <= limit:
            return page, None
        last = Position(rows[limit - 1]["created_at"], page[-1].id)
        return page, encode_cursor(last, digest)

    async def get(self, case_id: str) -> Case:
        row = await fetch_one(self._pool, "cases.get", id=case_id)
        if row is None:
            raise _missing(case_id)
        return case_of(row)

    async def reach(self, change: Change, limit: int) -> CasesInReach:
        asked = _reach_params(change, limit) if limit else None
        async with connection(self._pool) as conn:
            async with conn.pipeline():
                # Before the cases: what is recorded in between counts as seen by nobody.
                seen = await conn.execute(sql("cases.seen"), _seen_params(change))
                found = await conn.execute(sql("cases.reach"), asked) if asked else None
            (row,) = await seen.fetchall()
            cases = map(case_of, await found.fetchall()) if found else ()
            return CasesInReach(cases=tuple(cases), seen=tuple(row["seen"]))

    async def seen(self, change: Change) -> tuple[int, ...]:
        async with connection(self._pool) as conn:
            return await seen_on(conn, change)

    async def add(self, case: Case) -> None:
        async with transaction(self._pool) as conn:
            done = await conn.execute(sql("cases.add"), _row(case))
            if await done.fetchone() is None:
                raise NotFound(Message("case.no_item", kind=case.kind, id=case.item_id))
            await _put_words(conn, case)

    async def edit(self, case: Case) -> None:
        async with transaction(self._pool) as conn:
            done = await conn.execute(sql("cases.edit"), _row(case))
            if await done.fetchone() is None:
                raise _missing(case.id)
            await conn.execute(sql("cases.drop_words"), {"id": case.id})
            await _put_words(conn, case)

    async def disable(self, case_id: str, *, by: str, reason: str) -> Case:
        known = await self.get(case_id)
        told = RunEvent(
            name="case.disabled",
            tenant_id=known.tenant_id,
            feedback_id=known.feedback_id,
            change_id=known.change_id,
            data={"kind": known.kind.value, "case": case_id, "by": by},
        )
        async with transaction(self._pool) as conn:
            await conn.execute(sql("cases.disable"), {"id": case_id, "reason": reason})
            if known.status is not CaseStatus.DISABLED:
                await write_event(conn, told, self._routes)
        if known.status is not CaseStatus.DISABLED:
            self._observe(told, NO_USAGE)
        return await self.get(case_id)

    async def note(self, results: Sequence[CaseResult], *, by_change: str | None = None) -> None:
        ran = [result for result in results if result.passed is not None]
        unrun = [result for result in results if result.passed is None]
        if ran:
            await execute(self._pool, "cases.note", by_change=by_change, **_ends(ran))
        if unrun:
            await execute(
                self._pool,
                "cases.note_unrun",
                ids=[result.case.id for result in unrun],
                whys=[str(result.why) for result in unrun],
                said=[to_said(result.why) for result in unrun],
            )

    async def counts(self, items: Sequence[ItemKey]) -> Mapping[ItemKey, CaseCounts]:
        if not items:
            return {}
        tenants, kinds, ids = map(list, zip(*items, strict=True))
        rows = await fetch_all(self._pool, "cases.counts", tenants=tenants, kinds=kinds, ids=ids)
        return {
            (row.pop("tenant_id"), Kind(row.pop("kind")), row.pop("item_id")): (
                CaseCounts.model_validate(row)
            )
            for row in rows
        }


async def reach_on(conn: Connection, change: Change, limit: int) -> Sequence[Case]:
    """Return the older cases that a change may break; see `Cases.reach`."""
    rows = await (await conn.execute(sql("cases.reach"), _reach_params(change, limit))).fetchall()
    return [case_of(row) for row in rows]


def _reach_params(change: Change, limit: int) -> dict[str, object]:
    return {
        **change.picked("tenant_id", "agent_id", "kind"),
        "item_id": change.target_id,
        "is_there": change.after is not None,
        "is_for_all": _is_for_all(change),
        "named": name_word(change),
        "words": joined(brought_words(change)),
        "limit": limit,
    }


async def seen_on(
    conn: Connection, change: Change, asked: AsyncCursor[DictRow] | None = None
) -> tuple[int, ...]:
    """Return what the search knows of where a change's agent searches, now or when `asked`."""
    asked = asked or await conn.execute(sql("cases.seen"), _seen_params(change))
    (row,) = await asked.fetchall()
    return tuple(row["seen"])


def _seen_params(change: Change) -> dict[str, object]:
    return {
        **change.picked("tenant_id", "agent_id"),
        "item_id": change.target_id,
        "kinds": [*_KINDS],
    }


class CasesOfUnit:
    """What a unit of work does about cases, on the connection of its transaction."""

    _conn: Connection
    _run_cases: RunCases | None = None
    _seen: AsyncCursor[DictRow] | None = None

    async def ask_seen(self, change: Change) -> None:
        """Ask what `broken_cases` compares, so that it needs no trip of its own."""
        if self._run_cases is not None and _can_be_as_tried(change):
            self._seen = await self._conn.execute(sql("cases.seen"), _seen_params(change))

    async def broken_cases(self, change: Change) -> Sequence[CaseResult]:
        """Return the cases that a recorded change breaks, unless nothing came since they ran."""
        if self._run_cases is None or await self._is_as_tried(change):
            return ()
        older = await reach_on(self._conn, change, MOST_IN_REACH)
        left_out = {*change.retires, *(change.tried or CasesTried(seen=())).excused}
        wanted = [case for case in (*older, *change.cases) if case.id not in left_out]
        results = await self._run_cases(self._conn, wanted)
        return [result for result in results if result.passed is False]

    async def _is_as_tried(self, change: Change) -> bool:
        if change.tried is None or not _can_be_as_tried(change):
            return False
        asked, self._seen = self._seen, None
        return await seen_on(self._conn, change, asked) == change.tried.seen

    async def keep_cases(self, change: Change) -> None:
        """Store the cases of a change; those it retires, or whose item it ends, end with it."""
        retired = {"change_id": change.id, "ids": [*change.retires]}
        target = {"tenant_id": change.tenant_id, "kind": change.kind, "item_id": change.target_id}
        if change.after is None:
            await self._conn.execute(sql("cases.retire_item"), {**target, **retired})
        if change.retires:
            await self._conn.execute(sql("cases.retire"), {**target, **retired})
        for case in change.cases:
            if case.id not in change.retires:
                await put_case(self._conn, case)
        if change.tried is not None and change.tried.drifted:
            params = {**_ends(change.tried.drifted), "by_change": change.id}
            await self._conn.execute(sql("cases.note"), params)


def _ends(results: Sequence[CaseResult]) -> dict[str, object]:
    return {
        "ids": [result.case.id for result in results],
        "statuses": [result.status for result in results],
        "notes": ["" if result.passed else str(result.why) for result in results],
        "said": [None if result.passed else to_said(result.why) for result in results],
    }


async def put_case(conn: Connection, case: Case) -> None:
    """Store a case with its words, unless it is there; the caller commits."""
    await conn.execute(sql("cases.put"), _row(case))


async def _put_words(conn: Connection, case: Case) -> None:
    if words := asked_words(case.body):
        params = {"id": case.id, "tenant_id": case.tenant_id, "words": joined(words)}
        await conn.execute(sql("cases.put_words"), params)


def _can_be_as_tried(change: Change) -> bool:
    """Whether it is known what a change was tried beside, which is more for what reaches all."""
    return change.tried is not None and not _is_for_all(change)


def _is_for_all(change: Change) -> bool:
    states = (change.before, change.after)
    return change.kind is Kind.SKILL or any(
        state is not None and state.reach.scope is Scope.TENANT for state in states
    )


def case_of(row: DictRow) -> Case:
    """Build a case from a row."""
    said = recalled(row.pop("said", None))
    texts = {name: said.get(row[name], row[name]) for name in ("note", "unrun_why")}
    return Case.model_validate({**row, **texts})


def _row(case: Case) -> dict[str, object]:
    row, asked = case.picked(*_PLAIN), asked_words(case.body)
    return {
        **row,
        "words": len(asked),
        "asked": joined(asked),
        "body": Jsonb(case.body.model_dump(mode="json")),
        "said": to_said(case.note, case.unrun_why),
    }


_PLAIN = (
    *("id", "tenant_id", "agent_id", "kind", "item_id", "role", "origin", "status", "note"),
    *("change_id", "feedback_id", "by", "unrun_why"),
)


def _missing(case_id: str) -> NotFound:
    return NotFound(Message("no.case", id=case_id), hint=Message("see.cases"))
