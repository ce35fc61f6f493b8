"""Runs cases on what is known, and on what would be known after a change: written, rolled back."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, cast

from psycopg import AsyncCursor
from psycopg.rows import DictRow

from core.adapters.postgres.agents import PostgresAgents
from core.adapters.postgres.queries import (
    Connection,
    Pool,
    connection,
    joined,
    nothing_along,
    rolled_back,
    sql,
)
from core.adapters.postgres.scoped_search import PostgresTaskMatches, ScopedSearch
from core.adapters.postgres.search import FEW, PostgresSearch, SearchIndex
from core.adapters.postgres.unit_of_work import document_of, item_put, put_document
from core.changes.cases.running import (
    CHOOSING,
    FIRST,
    SEARCHING,
    Found,
    ItemState,
    as_before,
    chosen,
    gone,
    judge,
    recalled,
)
from core.domain import tracing
from core.domain.errors import NotFound
from core.domain.models import Agent, Change, Kind, Scope
from core.domain.models.cases import Case, CaseResult, CaseStatus, Check
from core.knowledge.context.selection import ask_tasks, is_named, looked_up, names_others, select
from core.knowledge.search.documents import SearchDocument, index_terms
from core.knowledge.search.ranking import Weighing, ask_all

ASKED_CHARS = 4_000  # of a question or a request, as of those that agents ask
_MARGIN = 0.85  # how much worse than the other one must be, for what that leaves unsure
_Key = tuple[str, Kind, str]


class PostgresCaseRunner:
    """The `CaseRunner` port. Searches are by words alone, whatever model of meaning is set.

    `clock` says what is over.
    """

    def __init__(self, pool: Pool, clock: Callable[[], datetime]) -> None:
        self._pool = pool
        self._clock = clock

    async def before_and_after(
        self,
        change: Change,
        blobs: Mapping[str, bytes],  # noqa: ARG002 - no case here asks for the files
        cases: Sequence[Case],
    ) -> Sequence[tuple[bool | None, CaseResult]]:
        """Run cases on the state that a change would make, and on that before it where it matters.

        That is for the change's own cases, and for older ones that fail: an older one that passes
        has None for before. Raises Stale if the target has moved on.
        """
        if not cases:
            return []
        async with rolled_back(self._pool) as conn, _writing(conn, change, cases):
            after = await self._after(_Looking(conn, self._clock, change), change, cases)
        asked = [one.case for one in after if _asks_before(change, one)]
        before = {one.case.id: one.passed for one in await self._before(change, asked)}
        return [(before.get(one.case.id), one) for one in after]

    async def _before(self, change: Change, cases: Sequence[Case]) -> Sequence[CaseResult]:
        """Run cases on what is known; nothing is looked up of an item that is not there yet."""
        if change.before is None and not any(
            one.body.of or not _is_of(change, one) for one in cases
        ):
            return [*map(gone, cases)]
        return await self.now(cases)

    async def now(self, cases: Sequence[Case]) -> Sequence[CaseResult]:
        if not cases:
            return []
        async with connection(self._pool) as conn:
            return await self.run_on(conn, cases)

    async def run_on(self, conn: Connection, cases: Sequence[Case]) -> Sequence[CaseResult]:
        """Run cases on what a transaction has made so far."""
        return await _Looking(conn, self._clock).run(cases)

    async def _after(
        self, looking: _Looking, change: Change, cases: Sequence[Case]
    ) -> Sequence[CaseResult]:
        others = [case for case in cases if _is_other(change, case)]
        own = [case for case in cases if not _is_other(change, case)]
        # Both are sent, and read after the next trip.
        items = await looking.ask_items(own)
        undisturbed = await _Undisturbed(looking, change).among(others, own)
        ended = [*await looking.run_on_items(own, await _items_of(items))]
        spared = await undisturbed.ids()
        if left := [case for case in others if case.id not in spared]:
            ended += await looking.run(left)
        run = {one.case.id: one for one in ended}
        return [run.get(case.id) or as_before(case) for case in cases]


def _asks_before(change: Change, after: CaseResult) -> bool:
    """Whether it matters if a case passed before: of older ones, if it fails."""
    return after.passed is False or (bool(after.passed) and after.case.change_id == change.id)


def _is_of(change: Change, case: Case) -> bool:
    return (case.kind, case.item_id) == (change.kind, change.target_id)


@asynccontextmanager
async def _writing(conn: Connection, change: Change, cases: Sequence[Case]) -> AsyncIterator[None]:
    """Write what a change makes known, as it is recorded and as cases can ask for. Raises Stale."""
    if change.kind is Kind.AGENT_SKILLS:
        await _list(conn, change)
    elif change.kind is not Kind.SKILL:
        async with item_put(conn, change):
            yield
        return
    else:
        if change.before is None and change.after is not None:
            params = {"tenant_id": change.tenant_id, "agent_id": change.agent_id}
            await conn.execute(
                sql("changes.list_agent_skill"), {**params, "name": change.target_id}
            )
        await put_document(conn, change, None, only=_asked_of(change, cases))
    yield


def _asked_of(change: Change, cases: Sequence[Case]) -> Collection[str] | None:
    """Return the terms by which cases look for a skill, None if they correct words: any may do."""
    looking = _to_be_asked(change, cases)
    if any(case.body.check in SEARCHING for case in looking):
        return None
    requests = [case.body.text[:ASKED_CHARS] for case in looking if case.body.check in CHOOSING]
    return frozenset[str]().union(*map(looked_up, requests))


def _to_be_asked(change: Change, cases: Sequence[Case]) -> Sequence[Case]:
    """Return the cases that a change may move, or that are not known to pass."""
    written = _written(change)
    return [case for case in cases if not _is_other(change, case) or _may_move(case, written)]


async def _list(conn: Connection, change: Change) -> None:
    states = (change.before, change.after)
    had, has = ({*state.content.splitlines()} if state else set[str]() for state in states)
    params = {"tenant_id": change.tenant_id, "agent_id": change.target_id}
    await conn.execute(sql("changes.add_agent_skills"), {**params, "names": sorted(has - had)})
    await conn.execute(sql("changes.drop_agent_skills"), {**params, "names": sorted(had - has)})


class _Lent:
    """A pool of the one connection of a transaction, so that the searches of agents run in it."""

    def __init__(self, conn: Connection) -> None:
        self._conn = conn

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[Connection]:
        yield self._conn


class _Looking:
    """Runs cases by the searches that agents use, over one connection."""

    def __init__(
        self, conn: Connection, clock: Callable[[], datetime], change: Change | None = None
    ) -> None:
        self.conn = conn
        self._change = change
        pool = cast("Pool", _Lent(conn))
        self._weighed: dict[str, Weighing | None] = {}
        search = PostgresSearch(pool, None, tells=tracing.is_on(), weighed=self._weighed)
        self._search = ScopedSearch(search, clock)
        self._matches = PostgresTaskMatches(pool, clock)
        self._agents = PostgresAgents(pool)

    async def run(self, cases: Sequence[Case]) -> Sequence[CaseResult]:
        """Return how cases end, in their order."""
        if not cases:
            return []
        return await self.run_on_items(cases, await _items_of(await self.ask_items(cases)))

    async def run_on_items(
        self, cases: Sequence[Case], items: Mapping[_Key, ItemState]
    ) -> Sequence[CaseResult]:
        """Return how cases end, in their order, whose items are those that are there."""
        with nothing_along():
            agents: dict[tuple[str, str], Agent] = {}
            return [await self._one(case, items.get(_key(case)), agents) for case in cases]

    async def weigh(
        self, own: Sequence[Case], others: Sequence[Case], tenant_id: str
    ) -> Sequence[Weighing | None]:
        """Weigh the questions of cases in one look, and return those of the others.

        What the change's own weigh is kept for their searches: nothing is written in between.
        """
        asked, rough = map(_questions, (own, others))
        index = SearchIndex(self.conn, tenant_id)
        weighed = await ask_all([*asked, *rough], index, rough={*rough} - {*asked})
        self._weighed.update(zip(asked, weighed, strict=False))
        return weighed[len(asked) :]

    async def ask_items(self, cases: Sequence[Case]) -> AsyncCursor[DictRow] | None:
        """Ask for the items of cases; `_items_of` reads them."""
        if not cases:
            return None
        params = {
            "tenants": [case.tenant_id for case in cases],
            "kinds": [case.kind for case in cases],
            "ids": [case.body.of or case.item_id for case in cases],
        }
        return await self.conn.execute(sql("case_runs.items"), params)

    async def _one(
        self, case: Case, item: ItemState | None, agents: dict[tuple[str, str], Agent]
    ) -> CaseResult:
        if item is None:
            return gone(case)
        if case.body.check in SEARCHING:
            return recalled(case, await self._found(case, item))
        if case.body.check in CHOOSING:
            return chosen(case, await self._first(case, agents))
        return judge(case, item)

    async def _found(self, case: Case, item: ItemState) -> Sequence[Found]:
        hits = await self._search.search(
            case.body.text[:ASKED_CHARS],
            tenant_id=case.tenant_id,
            agent_id=case.agent_id,
            kind=case.kind,
            limit=FIRST,
            user=self._asker(case, item),
        )
        return [Found(hit.id, hit.name) for hit in hits]

    def _asker(self, case: Case, item: ItemState) -> str | None:
        """Return who asks: of an older case whoever found its item before the change."""
        change = self._change
        if change is None or change.before is None or case.change_id == change.id:
            return item.user
        is_changed = (case.kind, case.item_id) == (change.kind, change.target_id)
        return change.before.reach.user if is_changed else item.user

    async def _first(self, case: Case, agents: dict[tuple[str, str], Agent]) -> str | None:
        """Return the skill that is first in the context for a request."""
        key = (case.tenant_id, case.agent_id)
        if key not in agents:
            try:
                agents[key] = await self._agents.get(*key)
            except NotFound:
                agents[key] = Agent(id=case.agent_id, tenant_id=case.tenant_id, name="")
        request = case.body.text[:ASKED_CHARS]
        found = select(request, await self._matches.rank(request, agents[key], user=None))
        return next((one.id for one in found if one.kind is Kind.SKILL), None)


async def _items_of(asked: AsyncCursor[DictRow] | None) -> dict[_Key, ItemState]:
    """Return the items of cases that are there."""
    return {
        (row["tenant_id"], Kind(row["kind"]), row["item_id"]): ItemState(
            row["content"], row["user"], row["agent_id"]
        )
        for row in (await asked.fetchall() if asked else ())
    }


def _questions(cases: Sequence[Case]) -> list[str]:
    return [case.body.text[:ASKED_CHARS] for case in cases if case.body.check in SEARCHING]


def _key(case: Case) -> _Key:
    return (case.tenant_id, case.kind, case.body.of or case.item_id)


class _Asked(NamedTuple):
    """A case with the weights of its words, and the text of its own item if that matters."""

    case: Case
    weighing: Weighing
    text: str = ""


@dataclass(frozen=True)
class _Undisturbed:
    """Which older cases of other items a change leaves as they are, without their searches.

    A search takes some milliseconds: fifty would take too long for every change. What a change
    writes moves another item in a search only if it matches nearly as well as that item does.
    """

    looking: _Looking
    change: Change

    async def among(self, cases: Sequence[Case], own: Sequence[Case]) -> _Spared:
        """Ask about green cases of others that ask with words; the `own` ones are weighed along."""
        written = _written(self.change)
        rivals = [case for case in cases if _may_move(case, written)]
        certain = frozenset(case.id for case in cases) - {case.id for case in rivals}
        if not rivals:
            return _Spared(certain, written)
        asked = await self._asked(rivals, own)
        return _Spared(certain, written, asked, await self._ask_shapes(asked))

    async def _asked(self, cases: Sequence[Case], own: Sequence[Case]) -> Sequence[_Asked]:
        tenant_id = self.change.tenant_id
        index = SearchIndex(self.looking.conn, tenant_id, sample=FEW)
        questions = [case for case in cases if case.body.check in SEARCHING]
        requests = [case for case in cases if case.body.check in CHOOSING]
        tasks = [case.body.text[:ASKED_CHARS] for case in requests]
        weighed = await self.looking.weigh(own, questions, tenant_id) if questions else []
        chosen_by = await ask_tasks(tasks, index) if tasks else []
        pairs = [
            *zip(questions, weighed, strict=True),
            *((case, one and one.weighing) for case, one in zip(requests, chosen_by, strict=True)),
        ]
        items = await _items_of(await self.looking.ask_items(requests))
        return [
            _Asked(case, weighing, _text(items.get(_key(case))))
            for case, weighing in pairs
            if weighing is not None
        ]

    async def _ask_shapes(self, asked: Sequence[_Asked]) -> AsyncCursor[DictRow]:
        """Ask for the postings of the cases' own items."""
        terms = [(at, term) for at, one in enumerate(asked) for term in one.weighing.asked]
        params = {
            "tenant_id": self.change.tenant_id,
            "at": [*range(len(asked))],
            "kinds": [one.case.kind for one in asked],
            "ids": [one.case.item_id for one in asked],
            "places": joined(str(at) for at, _ in terms),
            "terms": joined(term for _, term in terms),
        }
        return await self.looking.conn.execute(sql("case_runs.shapes"), params)


@dataclass(frozen=True)
class _Spared:
    """Cases of which some are `certain` to pass as before, and others by their postings."""

    certain: frozenset[str]
    written: SearchDocument | None
    asked: Sequence[_Asked] = ()
    shapes: AsyncCursor[DictRow] | None = None

    async def ids(self) -> frozenset[str]:
        """Return the ids of those that pass as before."""
        if self.shapes is None:
            return self.certain
        own = {row["at"]: row["shapes"] for row in await self.shapes.fetchall()}
        new = index_terms(self.written).shapes if self.written else {}
        found = enumerate(self.asked)
        return self.certain.union(
            one.case.id for at, one in found if _leaves(one, own.get(at, {}), self.written, new)
        )


def _is_other(change: Change, case: Case) -> bool:
    """Whether a case of another item passes, and asks with words."""
    is_asked = case.body.check in {Check.RECALL, Check.SILENCE, Check.CHOSEN}
    known = change.kind is not Kind.AGENT_SKILLS and case.status is CaseStatus.GREEN
    is_own = _is_of(change, case)
    return known and is_asked and not is_own and case.tenant_id == change.tenant_id


def _may_move(case: Case, written: SearchDocument | None) -> bool:
    """Whether what a change writes may come before the item of a case, or make room for it."""
    if case.body.check is Check.SILENCE:
        return True
    if written is None or written.agent_id not in {None, case.agent_id}:
        return False
    return written.kind is case.kind or case.body.check is Check.CHOSEN


def _leaves(
    one: _Asked, own: Mapping[str, int], written: SearchDocument | None, new: Mapping[str, int]
) -> bool:
    """Whether an item stays where it was found, or out of what is found; by its postings and those
    of what is written.
    """
    case, weighing = one.case, one.weighing
    if case.body.check is Check.SILENCE:
        return not weighing.is_hit(own)
    if case.body.check is Check.RECALL and not weighing.is_hit(own):
        return False
    if written is None or is_named(case.body.text, written.kind, written.name):
        return written is None
    is_far = weighing.bm25(new) < _MARGIN * weighing.bm25(own)
    if case.body.check is not Check.CHOSEN:
        return is_far
    return written.kind is not case.kind or (is_far and _matches_more(one, own, new))


def _matches_more(one: _Asked, own: Mapping[str, int], new: Mapping[str, int]) -> bool:
    """Whether an item matches more of a request than another, and is not put back behind it."""
    mine, other = (sum(map(one.weighing.floor, found)) for found in (own, new))
    return other < _MARGIN * mine and not names_others(one.text, one.case.body.text)


def _text(item: ItemState | None) -> str:
    return item.content if item else ""


def _written(change: Change) -> SearchDocument | None:
    """Return the document that a change writes, as it is found."""
    is_shared = change.kind is Kind.SKILL or (
        change.after is not None and change.after.reach.scope is Scope.TENANT
    )
    return document_of(change, None if is_shared else change.agent_id)
