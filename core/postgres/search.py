"""The search index in PostgreSQL: one row a term and document, seen by all at commit."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from core.models import Hit, Kind, SkillSummary
from core.ports import SkillStore
from core.postgres.queries import Connection, Pool, connection, execute, fetch_all, sql, transaction
from core.search.documents import SearchDocument
from core.search.hits import SCANNED_CHARS, make_hit
from core.search.ranking import K1, MAX_QUERY_TERMS, B, Corpus, Weighing, extrapolate, weigh
from core.search.skill_text import skill_search_document, skill_version
from core.search.tokens import term_counts

__all__ = ["PostgresSearch", "SearchDocument", "drop_document", "index_document"]

_SAMPLE = 500
_MAX_TF = 32_767


async def index_document(conn: Connection, document: SearchDocument) -> None:
    """Put a document into the index, or in the place of what it held; the caller commits."""
    counts = term_counts(document.text)
    row = {key: _storable(value) for key, value in document.model_dump().items()}
    row["length"] = counts.total()
    found = await (await conn.execute(sql("search.put_document"), row)).fetchone()
    assert found is not None
    terms = sorted(counts)
    postings = {
        "tenant_id": document.tenant_id,
        "id": found["id"],
        "terms": terms,
        "tfs": [min(counts[term], _MAX_TF) for term in terms],
    }
    await conn.execute(sql("search.drop_postings"), postings)
    await conn.execute(sql("search.put_postings"), postings)


async def drop_document(conn: Connection, tenant_id: str, kind: Kind, item_id: str) -> None:
    """Take a document out of the index; absent already is fine. The caller commits."""
    key = {"tenant_id": tenant_id, "kind": kind, "item_id": item_id}
    await conn.execute(sql("search.drop_document"), key)


class PostgresSearch:
    """The `Search` port over the index, and over skills that others wrote into the store.

    A tenant's skills are looked through at most every `refresh_seconds` of `clock`.
    """

    def __init__(
        self,
        pool: Pool,
        skills: SkillStore,
        *,
        refresh_seconds: float,
        clock: Callable[[], float],
    ) -> None:
        self._pool = pool
        self._skills = skills
        self._every = refresh_seconds
        self._clock = clock
        self._refreshed: dict[str, float] = {}
        self._refreshing = asyncio.Lock()

    async def search(
        self, query: str, *, tenant_id: str, agent_id: str | None, kind: Kind | None, limit: int
    ) -> Sequence[Hit]:
        """Give the items most similar to `query`, best first.

        With an agent: its own items and those shared in the tenant. `score` is a part of the
        ideal, 0 to 1. Of a long query the first 512 distinct terms count.
        """
        counts = term_counts(query, limit=MAX_QUERY_TERMS)
        if not counts or limit < 1:
            return []
        async with connection(self._pool) as conn:
            weighing = weigh(counts, await _corpus(conn, tenant_id, list(counts)))
            if not weighing.weights:
                return []
            scope: dict[str, object] = {
                "tenant_id": tenant_id,
                "agent_id": agent_id,
                "kind": kind,
                "limit": limit,
            }
            scope["found"] = limit * 3 + 10
            rows = await conn.execute(sql("search.rank"), scope | _asked(weighing))
            return [
                make_hit(
                    score=weighing.normalised(row.pop("bm25")), weights=weighing.weights, **row
                )
                for row in await rows.fetchall()
            ]

    async def refresh(self, tenant_id: str) -> None:
        """Bring the index up to what the skill store holds (skills written by others)."""
        async with self._refreshing:
            now = self._clock()
            if now - self._refreshed.get(tenant_id, float("-inf")) < self._every:
                return
            await self._refresh(tenant_id)
            self._refreshed[tenant_id] = now

    async def _refresh(self, tenant_id: str) -> None:
        # The index first: a skill that is committed in between is in the store by then.
        rows = await fetch_all(self._pool, "search.skills", tenant_id=tenant_id)
        indexed = {row["item_id"]: row["version"] for row in rows}
        listed = {summary.name: summary for summary in await self._skills.list(tenant_id)}
        for name, summary in listed.items():
            version = skill_version(summary)
            if indexed.get(name) == "":  # indexed by its own commit
                key = {"tenant_id": tenant_id, "item_id": name, "version": version}
                await execute(self._pool, "search.adopt_skill", **key)
            elif indexed.get(name) != version:
                await self._index_skill(tenant_id, summary)
        async with connection(self._pool) as conn:
            for name in indexed.keys() - listed.keys():
                await drop_document(conn, tenant_id, Kind.SKILL, name)

    async def _index_skill(self, tenant_id: str, summary: SkillSummary) -> None:
        bundle = await self._skills.read(summary.name, tenant_id)
        if bundle is None:
            return
        document = skill_search_document(bundle, summary, tenant_id)
        async with transaction(self._pool) as conn:
            await index_document(conn, document)


async def _corpus(conn: Connection, tenant_id: str, terms: list[str]) -> Corpus:
    params = {"tenant_id": tenant_id, "terms": terms, "sample": _SAMPLE}
    found = await (await conn.execute(sql("search.corpus"), params)).fetchone()
    assert found is not None
    oldest, newest = found["oldest"], found["newest"]
    rows = await (await conn.execute(sql("search.frequencies"), params)).fetchall()

    def total(seen: int, last: int) -> int:
        return extrapolate(seen, _SAMPLE, oldest=oldest, last=last, newest=newest)

    return Corpus(
        documents=total(found["seen"], found["last"]),
        mean_length=found["mean_length"],
        frequencies={row["term"]: total(row["seen"], row["last"]) for row in rows},
    )


def _asked(weighing: Weighing) -> dict[str, object]:
    return {
        "terms": list(weighing.weights),
        "weights": list(weighing.weights.values()),
        "finding": list(weighing.finding),
        "mean_length": weighing.mean_length,
        "k1": K1,
        "b": B,
        "scanned": SCANNED_CHARS,
    }


def _storable(value: object) -> object:
    """Give text as PostgreSQL can hold it: no NUL, no lone surrogate."""
    if not isinstance(value, str):
        return value
    return value.replace("\0", " ").encode("utf-8", "replace").decode("utf-8")
