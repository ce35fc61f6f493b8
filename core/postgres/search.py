"""The search in PostgreSQL: the rarest terms of a query find documents, all of them score."""

from __future__ import annotations

from collections.abc import Sequence

from core.models import Hit, Kind
from core.postgres.queries import Connection, Pool, connection, sql
from core.postgres.skill_follower import SkillFollower
from core.search.hits import SCANNED_CHARS, make_hit
from core.search.ranking import K1, MAX_QUERY_TERMS, B, Corpus, Weighing, extrapolate, weigh
from core.search.tokens import term_counts

_SAMPLE = 500


class PostgresSearch:
    """The `Search` port; without a follower the index is taken as it stands."""

    def __init__(self, pool: Pool, follower: SkillFollower | None) -> None:
        self._pool = pool
        self._follower = follower

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
        """Bring the index up to what the skill store holds; see `SkillFollower.follow`."""
        if self._follower is not None:
            await self._follower.follow(tenant_id)


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
