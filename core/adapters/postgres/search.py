"""Full-text search in PostgreSQL: a query's rarest terms find documents, all terms score them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from psycopg.rows import DictRow

from core.adapters.postgres.neighbours import newest_revision
from core.adapters.postgres.queries import Connection, Pool, connection, joined, sql
from core.adapters.postgres.skill_follower import SkillFollower
from core.domain.models import Hit, Kind, KnownText, Nearby
from core.knowledge.search.asking import ask
from core.knowledge.search.hits import SCANNED_CHARS, make_hit
from core.knowledge.search.ranking import Corpus, Weighing, extrapolate

_SAMPLE = 100


class PostgresSearch:
    """The `Search` port; without a follower the index is used as it is."""

    def __init__(self, pool: Pool, follower: SkillFollower | None) -> None:
        self._pool = pool
        self._follower = follower

    async def search(
        self, query: str, *, tenant_id: str, agent_id: str | None, kind: Kind | None, limit: int
    ) -> Sequence[Hit]:
        """Return the items most similar to `query`, best first.

        With an agent: its own items and those shared in the tenant. `score` is relative to the
        ideal document, 0 to 1. Of a long query the first 2,000 distinct terms are read, and the 256
        with the highest weight count.
        """
        if limit < 1:
            return []
        async with connection(self._pool) as conn:
            weighing = await ask(query, _Index(conn, tenant_id))
            if weighing is None:
                return []
            scope = _Scope(tenant_id, agent_id, kind, limit, weighing.needed)
            rows = await _ranked(conn, weighing, scope)
        return [
            make_hit(
                kind=Kind(row.pop("kind")),
                score=weighing.normalised(row.pop("bm25")),
                weights=weighing.weights,
                **row,
            )
            for row in rows
        ]

    async def near(
        self, text: str, *, tenant_id: str, agent_id: str | None, kind: Kind, limit: int
    ) -> Nearby:
        owner = None if kind is Kind.SKILL else agent_id
        async with connection(self._pool) as conn:
            index = _Index(conn, tenant_id, owner, kind)
            weighing = await ask(text, index, for_name=False)
            if weighing is None or limit < 1:
                return Nearby(seen=await newest_revision(conn, tenant_id, owner, kind))
            rows = await _ranked(conn, weighing, _Scope(tenant_id, agent_id, kind, limit))
        known = [
            KnownText(
                id=row["item_id"],
                kind=row["kind"],
                name=row["name"],
                agent_id=row["agent_id"],
                content=row["content"],
                score=weighing.normalised(row["bm25"]),
            )
            for row in rows
        ]
        return Nearby(items=tuple(known), seen=index.mark)

    async def refresh(self, tenant_id: str) -> None:
        """Bring the index up to date with the skill store; see `SkillFollower.follow`."""
        if self._follower is not None:
            await self._follower.follow(tenant_id)


@dataclass(frozen=True)
class _Scope:
    tenant_id: str
    agent_id: str | None
    kind: Kind | None
    limit: int
    needed: float = 0.0


class _Index:
    """The statistics of a tenant's index that a query needs.

    `mark` is the newest revision of the agent's documents of a kind when it was described.
    """

    def __init__(
        self,
        conn: Connection,
        tenant_id: str,
        agent_id: str | None = None,
        kind: Kind | None = None,
    ) -> None:
        self._conn = conn
        self._tenant_id = tenant_id
        self._own = {"agent_id": agent_id, "kind": kind}
        self.mark = 0

    async def describe(self, terms: Sequence[str]) -> Corpus:
        asked = {"terms": joined(terms), "sample": _SAMPLE, **self._own}
        (whole,) = await self._fetch("search.describe", **asked)
        self.mark = whole["mark"]

        def total(seen: int, last: int) -> int:
            ends = {"oldest": whole["oldest"], "newest": whole["newest"]}
            return extrapolate(seen, _SAMPLE, last=last, **ends)

        return Corpus(
            documents=total(whole["seen"], whole["last"]),
            frequencies={term: total(seen, last) for term, (seen, last) in whole["terms"].items()},
        )

    async def count(self, terms: Sequence[str]) -> Mapping[str, int]:
        rows = await self._fetch("search.frequencies", terms=joined(terms), sample=_SAMPLE)
        return {row["term"]: row["seen"] for row in rows}

    async def known(self, keys: Sequence[str]) -> set[str]:
        return {row["term"] for row in await self._fetch("search.known", terms=joined(keys))}

    async def _fetch(self, block: str, **params: object) -> list[DictRow]:
        given = {"tenant_id": self._tenant_id, **params}
        return await (await self._conn.execute(sql(block), given)).fetchall()


async def _ranked(conn: Connection, weighing: Weighing, scope: _Scope) -> list[DictRow]:
    if not weighing.asked:
        return []
    params = {**vars(scope), "found": scope.limit * 15 + 25, **_asked(weighing)}
    return await (await conn.execute(sql("search.rank"), params)).fetchall()


def _asked(weighing: Weighing) -> dict[str, object]:
    asked = weighing.asked
    return {
        "terms": joined(asked),
        "weights": joined(map(repr, asked.values())),
        "finds": joined("t" if term in weighing.finding else "f" for term in asked),
        "scanned": SCANNED_CHARS,
    }
