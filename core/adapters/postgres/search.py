"""Full-text search in PostgreSQL: a query's rarest terms find documents, all terms score them."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Protocol

import structlog
from psycopg.rows import DictRow

from core.adapters.postgres.queries import (
    Connection,
    Pool,
    connection,
    execute,
    fetch_all,
    joined,
    sql,
    transaction,
)
from core.domain.errors import InvalidInput, NotFound, Repeated, SkillApiDown, TargetBusy
from core.domain.messages import Message
from core.domain.models import Bundle, Change, Hit, Kind, KnownText, Nearby, Scope, SkillSummary
from core.domain.ports import SkillStore
from core.knowledge.duplicates.repeats import repeats, repeats_skill
from core.knowledge.search.documents import (
    SearchDocument,
    index_terms,
    indexed_version,
    skill_search_document,
    skill_version,
)
from core.knowledge.search.hits import SCANNED_CHARS, make_hit
from core.knowledge.search.ranking import K1, B, Corpus, Weighing, ask, extrapolate, shown
from core.safety.masking import mask
from core.skills.library import look_into


async def newest_revision(
    conn: Connection, tenant_id: str, agent_id: str | None, kind: Kind
) -> int:
    """Return the newest revision of documents of a kind, 0 if there are none.

    Of those that the tenant shares and, with an agent, of its own.
    """
    params = {"tenant_id": tenant_id, "agent_id": agent_id, "kind": kind}
    found = await (await conn.execute(sql("neighbours.newest"), params)).fetchone()
    return int(found["newest"]) if found else 0


async def refuse_repeated(conn: Connection, change: Change) -> None:
    """Serialise writers of an agent's knowledge of a kind, and check what is new there.

    The lock lasts until the caller's transaction ends; it is taken after those of the change and
    its candidate. Raises Repeated if an item added or changed since says the same, or nearly.
    """
    params = {**await _lock(conn, change), "item_id": change.target_id, "seen": change.seen}
    if change.seen is None or change.after is None:
        return
    block = "neighbours.tables" if change.kind is Kind.DMN_RULE else "neighbours.newer"
    for row in await (await conn.execute(sql(block), params)).fetchall():
        if repeats(change, row["content"]):
            raise Repeated(
                Message("near.meanwhile", kind=change.kind, id=row["item_id"]),
                item_id=row["item_id"],
            )


async def refuse_skill_beside(conn: Connection, change: Change) -> None:
    """Check which skills appeared since a new one was compared, or are about to appear.

    A skill is uploaded before it is recorded, so this runs before the upload. Raises Repeated if
    one made since says nearly the same, TargetBusy while one is being made.
    """
    if change.kind is not Kind.SKILL or change.before is not None or change.seen is None:
        return
    params = {**await _lock(conn, change), "item_id": change.target_id, "seen": change.seen}
    for row in await (await conn.execute(sql("neighbours.skills"), params)).fetchall():
        if repeats_skill(change, row["item_id"], row["content"]):
            if row["is_open"]:
                raise TargetBusy(Message("near.being_made", name=row["item_id"]))
            raise Repeated(
                Message("near.skill_meanwhile", id=row["item_id"]),
                item_id=row["item_id"],
            )


async def lock_skills(conn: Connection, tenant_id: str) -> None:
    """Serialise the recording of a tenant's skills and lists of skills.

    So the revisions of skills appear in order, and none is listed while it is deleted.
    """
    await lock_writers(conn, tenant_id, Kind.SKILL, "")


async def lock_writers(
    conn: Connection, tenant_id: str, kind: Kind, agent_id: str, *, is_shared: bool = False
) -> None:
    """Serialise the writers of an agent's knowledge of a kind until the transaction ends.

    One that is shared by the tenant, with the writers of all its agents.
    """
    params = {"tenant_id": tenant_id, "agent_id": agent_id, "kind": kind, "is_shared": is_shared}
    await conn.execute(sql("neighbours.lock"), params)


async def _lock(conn: Connection, change: Change) -> dict[str, object]:
    """Lock a kind of an agent's knowledge, or a tenant's skills, until the transaction ends."""
    owner = "" if change.kind is Kind.SKILL else change.agent_id
    params: dict[str, object] = {
        "tenant_id": change.tenant_id,
        "agent_id": owner,
        "kind": change.kind,
    }
    is_shared = change.is_for_tenant
    await lock_writers(conn, change.tenant_id, change.kind, owner, is_shared=is_shared)
    return params


async def index_document(
    conn: Connection,
    document: SearchDocument,
    *,
    only: Collection[str] | None = None,
    is_new: bool = False,
) -> None:
    """Add a document to the index or replace it, in the caller's transaction.

    One that `is_new` has no postings to drop.
    With `only` just the postings of these terms are written, for one who rolls back and asks for
    no others: a skill has a thousand, which take longer than all that is asked of them.
    """
    found = index_terms(document)
    row = {key: _storable(value) for key, value in document.model_dump().items()}
    shapes = {t: shape for t, shape in found.shapes.items() if only is None or t in only}
    key = {name: row[name] for name in ("tenant_id", "kind", "item_id")}
    terms = {**key, "terms": joined(shapes)}
    await conn.execute(sql("search.put_document"), {**row, **terms, "length": found.length})
    if only is not None:
        await conn.execute(sql("search.drop_some"), {**key, "terms": joined(only)})
    elif not is_new:
        await conn.execute(sql("search.drop_postings"), terms)
    postings = {"agent_id": document.agent_id, "shapes": joined(map(str, shapes.values()))}
    await conn.execute(sql("search.put_postings"), {**terms, **postings})


async def index_new(conn: Connection, documents: Sequence[SearchDocument]) -> None:
    """Add documents of one tenant and kind that are not there yet; the caller commits.

    One statement for all: each of its own took as long as all else that a set writes.
    """
    found = [*map(index_terms, documents)]
    shapes = [one.shapes for one in found]
    params = {
        "tenant_id": documents[0].tenant_id,
        "kind": documents[0].kind,
        "item_ids": [document.item_id for document in documents],
        "agent_ids": [document.agent_id for document in documents],
        "names": [_storable(document.name) for document in documents],
        "contents": [_storable(document.content) for document in documents],
        "lengths": [one.length for one in found],
        "terms": [*map(joined, shapes)],
        "shapes": [joined(map(str, one.values())) for one in shapes],
    }
    put = await conn.execute(sql("search.put_new"), params)
    await put.fetchone()  # what is in the way shows here


async def drop_document(conn: Connection, tenant_id: str, kind: Kind, item_id: str) -> None:
    """Remove a document from the index; absent already is fine. The caller commits."""
    key = {"tenant_id": tenant_id, "kind": kind, "item_id": item_id}
    await conn.execute(sql("search.drop_document"), key)


def _storable(value: object) -> object:
    """Return text as PostgreSQL can store it: no NUL, no lone surrogate."""
    if isinstance(value, tuple):
        return [_storable(part) for part in value]
    if not isinstance(value, str):
        return value
    return value.replace("\0", " ").encode("utf-8", "replace").decode("utf-8")


log = structlog.get_logger(__name__)

LONGEST_SECONDS = 5.0
COMPARED_PER_SCAN = 8


class SeesSkills(Protocol):
    """Compares skills with what was recorded of them."""

    async def see(self, tenant_id: str, name: str, bundle: Bundle) -> None:
        """Compare what was read of a skill."""

    async def look(self, tenant_id: str, name: str) -> None:
        """Read a skill that is gone, as it seems, and compare it."""


class SkillFollower:
    """Scans a tenant's skills at most every `every` seconds of `clock`.

    A skill that looks unchanged in the store's list may still differ: each scan reads and compares
    a few of those, in turn. A failed scan counts as one. Callers wait for a scan at most `longest`
    seconds; a scan that is cut off keeps what it has indexed, and the next continues from there.
    `outside` is shown what is read, and told of what is gone.
    Secrets in what others have written are masked in the index, unless `keeps_raw`.
    """

    def __init__(
        self,
        pool: Pool,
        skills: SkillStore,
        *,
        every: float,
        clock: Callable[[], float],
        longest: float = LONGEST_SECONDS,
        outside: SeesSkills | None = None,
        keeps_raw: bool = False,
    ) -> None:
        self._outside = outside
        self._pool = pool
        self._skills = skills
        self._keeps_raw = keeps_raw
        self._every = every
        self._clock = clock
        self._longest = longest
        self._scanned_at: dict[str, float] = {}
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._unreadable: dict[tuple[str, str], str] = {}
        self._compared: dict[tuple[str, str], int] = {}
        self._scans = 0

    async def follow(self, tenant_id: str) -> None:
        """Bring the index up to date with the store. Raises SkillApiDown, also if it is slow.

        A skill that cannot be read is skipped, and tried again once it has changed.
        """
        try:
            async with asyncio.timeout(self._longest), self._locks[tenant_id]:
                now = self._clock()
                if now - self._scanned_at.get(tenant_id, float("-inf")) >= self._every:
                    # Before, so that a failed scan counts; after, since progress clears it.
                    self._scanned_at[tenant_id] = now
                    await self._scan(tenant_id)
                    self._scanned_at[tenant_id] = now
        except TimeoutError:
            raise SkillApiDown(
                Message("dependency.skills_too_slow", seconds=self._longest)
            ) from None

    async def _scan(self, tenant_id: str) -> None:
        # The index first: a skill that is committed in between is in the store by then.
        rows = await fetch_all(self._pool, "search.skills", tenant_id=tenant_id)
        indexed: dict[str, str] = {row["item_id"]: row["version"] for row in rows}
        listed = {summary.name: summary for summary in await self._skills.list(tenant_id)}
        alike: list[SkillSummary] = []
        for name, summary in listed.items():
            version, known = skill_version(summary), indexed.get(name)
            if known == "":  # indexed by its own commit
                key = {"tenant_id": tenant_id, "item_id": name, "version": version}
                await execute(self._pool, "search.adopt_skill", **key)
            elif known is not None and known.partition(":")[0] == version:
                alike.append(summary)
            elif version != self._unreadable.get((tenant_id, name)):
                await self._index(tenant_id, summary)
        gone = indexed.keys() - listed.keys()
        if self._outside:
            for name in sorted(gone):
                await self._outside.look(tenant_id, name)
        async with connection(self._pool) as conn:
            for name in gone:
                await drop_document(conn, tenant_id, Kind.SKILL, name)
        await self._compare(tenant_id, alike, indexed)

    async def _compare(
        self, tenant_id: str, alike: list[SkillSummary], indexed: Mapping[str, str]
    ) -> None:
        """Read the few that were compared longest ago, and index those that have changed."""
        self._scans += 1
        alike.sort(key=lambda summary: self._compared.get((tenant_id, summary.name), 0))
        chosen = {summary.name: summary for summary in alike[:COMPARED_PER_SCAN]}
        self._compared.update(dict.fromkeys(((tenant_id, name) for name in chosen), self._scans))
        looked = await look_into(self._skills, tenant_id, chosen, lambda bundle: bundle)
        for name, bundle in looked.seen.items():
            if self._outside:
                await self._outside.see(tenant_id, name, bundle)
            if indexed[name] != indexed_version(chosen[name], bundle):
                await self._put(tenant_id, chosen[name], bundle)

    async def _index(self, tenant_id: str, summary: SkillSummary) -> None:
        try:
            bundle = await self._skills.read(summary.name, tenant_id)
        except (InvalidInput, NotFound) as error:
            log.warning(
                "skill.unreadable", tenant_id=tenant_id, skill=summary.name, error=error.message
            )
            self._unreadable[tenant_id, summary.name] = skill_version(summary)
            return
        if bundle is not None:
            if self._outside:
                await self._outside.see(tenant_id, summary.name, bundle)
            await self._put(tenant_id, summary, bundle)

    async def _put(self, tenant_id: str, summary: SkillSummary, bundle: Bundle) -> None:
        document = skill_search_document(bundle, summary, tenant_id)
        if not self._keeps_raw:
            clear = mask(document.content).text
            document = document.model_copy(update={"content": clear})
        async with transaction(self._pool) as conn:
            await index_document(conn, document)
        # The scan made progress: if it was cut off here, it continues at once.
        self._scanned_at.pop(tenant_id, None)


# Counting a term stops here; beyond, its frequency is extrapolated from the ids.
_SAMPLE = 100
FEW = 20  # and here, where two items are compared
NOT_WEIGHED: Mapping[str, Weighing | None] = MappingProxyType({})


class PostgresSearch:
    """The `Search` port; without a follower the index is used as it is.

    Unless it `tells`, hits have neither an excerpt nor a reason, which take longer than the rest.
    What a query in `weighed` weighs is not looked up: nothing may be written in between.
    """

    def __init__(
        self,
        pool: Pool,
        follower: SkillFollower | None,
        *,
        tells: bool = True,
        weighed: Mapping[str, Weighing | None] = NOT_WEIGHED,
    ) -> None:
        self._pool = pool
        self._follower = follower
        self._tells = tells
        self._weighed = weighed

    async def search(
        self, query: str, *, tenant_id: str, agent_id: str | None, kind: Kind | None, limit: int
    ) -> Sequence[Hit]:
        """Return the items most similar to `query`, best first, with their reach.

        With an agent: its own items and those shared in the tenant. `score` is relative to the
        ideal document, 0 to 1. Of a long query the first 2,000 distinct terms are read, and the 256
        with the highest weight count.
        """
        if limit < 1:
            return []
        async with connection(self._pool) as conn:
            if query in self._weighed:
                weighing = self._weighed[query]
            else:
                weighing = await ask(query, SearchIndex(conn, tenant_id))
            if weighing is None:
                return []
            scope = _Scope(tenant_id, agent_id, kind, limit, weighing.needed, weighing.enough)
            rows = await _ranked(conn, weighing, scope)
        if not self._tells:
            return [_bare_hit(row, weighing) for row in rows]
        weights = shown(weighing.weights)
        return [
            make_hit(
                kind=Kind(row.pop("kind")),
                scope=Scope(row.pop("scope")),
                score=weighing.normalised(row.pop("bm25")),
                weights=weights,
                names=weighing.named,
                **row,
            )
            for row in rows
        ]

    async def near(
        self, text: str, *, tenant_id: str, agent_id: str | None, kind: Kind, limit: int
    ) -> Nearby:
        owner = None if kind is Kind.SKILL else agent_id
        async with connection(self._pool) as conn:
            index = SearchIndex(conn, tenant_id, owner, kind)
            weighing = await ask(text, index, for_name=False)
            if weighing is None or limit < 1:
                return Nearby(seen=await newest_revision(conn, tenant_id, owner, kind))
            rows = await _ranked(conn, weighing, _Scope(tenant_id, agent_id, kind, limit))
        known = [
            KnownText(
                id=row.pop("item_id"),
                score=weighing.normalised(row.pop("bm25")),
                **{name: value for name, value in row.items() if name != "files"},
            )
            for row in rows
        ]
        return Nearby(items=tuple(known), seen=index.mark)

    async def refresh(self, tenant_id: str) -> None:
        """Bring the index up to date with the skill store; see `SkillFollower.follow`."""
        if self._follower is not None:
            await self._follower.follow(tenant_id)


def _bare_hit(row: DictRow, weighing: Weighing) -> Hit:
    told = {name: value for name, value in row.items() if name not in {"content", "files"}}
    score = round(weighing.normalised(told.pop("bm25")), 4)
    return Hit(id=told.pop("item_id"), excerpt="", score=score, **told)


@dataclass(frozen=True)
class _Scope:
    tenant_id: str
    agent_id: str | None
    kind: Kind | None
    limit: int
    needed: float = 0.0
    enough: float = 0.0


class SearchIndex:
    """The statistics of a tenant's index that a query needs; counting stops at `sample`.

    `mark` is the newest revision of the agent's documents of a kind when it was described.
    """

    def __init__(
        self,
        conn: Connection,
        tenant_id: str,
        agent_id: str | None = None,
        kind: Kind | None = None,
        *,
        sample: int = _SAMPLE,
    ) -> None:
        self._conn = conn
        self._sample = sample
        self._tenant_id = tenant_id
        self._own = {"agent_id": agent_id, "kind": kind}
        self.mark = 0

    async def describe(self, terms: Sequence[str], rough: Sequence[str] = ()) -> Corpus:
        """Return what ranking by these terms needs to know of all documents."""
        asked = {"terms": joined(terms), "sample": self._sample, **self._own}
        few = {"rough": joined(rough), "few": FEW}
        (whole,) = await self._fetch("search.describe", **asked, **few)
        self.mark = whole["mark"]

        ends = {"oldest": whole["oldest"], "newest": whole["newest"]}
        samples, least = dict.fromkeys(rough, FEW), min(FEW, self._sample)
        return Corpus(
            documents=whole["documents"],
            frequencies={
                term: seen
                if seen < least
                else extrapolate(seen, samples.get(term, self._sample), last=last, **ends)
                for term, (seen, last) in whole["terms"].items()
            },
            mean=max(1.0, whole["length"] / max(1, whole["documents"])),
        )

    async def count(self, terms: Sequence[str]) -> Mapping[str, int]:
        """Return in how many documents each term is, of those that were sampled."""
        rows = await self._fetch("search.frequencies", terms=joined(terms), sample=self._sample)
        return {row["term"]: row["seen"] for row in rows}

    async def known(self, keys: Sequence[str]) -> set[str]:
        """Return which of the terms are in any document."""
        return {row["term"] for row in await self._fetch("search.known", terms=joined(keys))}

    async def _fetch(self, block: str, **params: object) -> list[DictRow]:
        given = {"tenant_id": self._tenant_id, **params}
        return await (await self._conn.execute(sql(block), given)).fetchall()


async def _ranked(conn: Connection, weighing: Weighing, scope: _Scope) -> list[DictRow]:
    if not weighing.asked:
        return []
    # Candidates to be scored by all terms: a hundred for the usual limit of five.
    params = {**vars(scope), "found": scope.limit * 15 + 25, **asked_terms(weighing)}
    return await (await conn.execute(sql("search.rank"), params)).fetchall()


def asked_terms(weighing: Weighing) -> dict[str, object]:
    """Return the terms of a query as parameters of a statement, and the shape of its corpus."""
    asked = weighing.asked
    return {
        "terms": joined(asked),
        "weights": joined(str(weight * (K1 + 1)) for weight in asked.values()),
        "floors": joined(str(weighing.floor(term)) for term in asked),
        "typed": joined(str(weighing.typed(term)) for term in asked),
        "finds": joined("t" if term in weighing.finding else "f" for term in asked),
        "base": K1 * (1 - B),
        "slope": K1 * B / weighing.mean,
        "scanned": SCANNED_CHARS,
    }
