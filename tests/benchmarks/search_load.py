"""Bulk loading of the index, past the pipeline: as `index_document` would, by COPY."""

from __future__ import annotations

from collections.abc import Sequence

from core.adapters.postgres.queries import Pool, connection
from core.knowledge.search.documents import SearchDocument, impacts, index_terms
from tests.benchmarks.search_sets import TENANT

_COLUMNS = "tenant_id, kind, item_id, agent_id, name, content, files"
_WITHOUT = """
ALTER TABLE search_postings DROP CONSTRAINT search_postings_pkey;
DROP INDEX search_postings_by_document;
ALTER TABLE search_postings DISABLE TRIGGER ALL;
"""
_WITH = """
ALTER TABLE search_postings ADD PRIMARY KEY (term, document_id) INCLUDE (agent, impact, kind);
CREATE INDEX search_postings_by_document ON search_postings (document_id, term) INCLUDE (impact);
ALTER TABLE search_postings ENABLE TRIGGER ALL;
VACUUM ANALYZE search_documents;
VACUUM ANALYZE search_postings;
"""
_WORDS = """
INSERT INTO search_vocabulary (term)
SELECT n.key FROM (
    SELECT search_key(%(tenant_id)s, t) AS key FROM unnest(%(words)s::text[]) t) n
WHERE NOT EXISTS (SELECT FROM search_vocabulary v WHERE v.term = n.key)
"""


async def load(pool: Pool, documents: Sequence[SearchDocument]) -> None:
    """Load documents; the indexes of the postings are rebuilt at the end."""
    async with connection(pool) as conn:
        await _run(pool, _WITHOUT)
        keys: dict[str, int] = {}
        for start in range(0, len(documents), 1_000):
            part = documents[start : start + 1_000]
            terms = [index_terms(document) for document in part]
            async with conn.cursor().copy(f"COPY search_documents ({_COLUMNS}) FROM STDIN") as copy:
                for document in part:
                    row = document.model_dump(exclude={"version"})
                    row["files"] = list(document.files)
                    await copy.write_row([*row.values()])
            rows = await conn.execute(
                "SELECT item_id, id FROM search_documents WHERE item_id = ANY (%s)",
                ([document.item_id for document in part],),
            )
            ids = {row["item_id"]: row["id"] for row in await rows.fetchall()}
            new = sorted({term for found in terms for term in impacts(found)} - keys.keys())
            words = sorted({word for found in terms for word in (*found.counts, *found.words)})
            await conn.execute(_WORDS, {"tenant_id": TENANT, "words": words})
            rows = await conn.execute(
                "SELECT t AS term, search_key(%s, t) AS key FROM unnest(%s::text[]) t",
                (TENANT, new),
            )
            keys |= {row["term"]: row["key"] for row in await rows.fetchall()}
            rows = await conn.execute(
                "SELECT a AS agent, coalesce(hashtext(a), 0) AS key FROM unnest(%s::text[]) a",
                ([*{document.agent_id for document in part}],),
            )
            agents = {row["agent"]: row["key"] for row in await rows.fetchall()}
            async with conn.cursor().copy("COPY search_postings FROM STDIN") as copy:
                for document, found in zip(part, terms, strict=True):
                    agent = agents[document.agent_id]
                    for term, part_of_score in impacts(found).items():
                        place = (keys[term], ids[document.item_id])
                        row = (*place, agent, round(part_of_score * 10_000), document.kind[0])
                        await copy.write_row(row)
        await _run(pool, _WITH)


async def _run(pool: Pool, script: str) -> None:
    async with connection(pool) as conn:
        for statement in script.strip().split("\n"):
            await conn.execute(statement.encode())
