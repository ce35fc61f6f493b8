"""Bulk loading of the index, past the pipeline: as `index_document` would, by COPY."""

from __future__ import annotations

from collections.abc import Sequence

from core.adapters.postgres.queries import Pool, connection
from core.knowledge.search.documents import SearchDocument, index_terms
from tests.benchmarks.search_sets import TENANT

_COLUMNS = "tenant_id, kind, item_id, agent_id, name, content, files, length, keys"
_WITHOUT = "ALTER TABLE search_postings DROP CONSTRAINT search_postings_pkey;"
_WITH = """
ALTER TABLE search_postings ADD PRIMARY KEY (term, document_id) INCLUDE (owner, shape);
VACUUM ANALYZE search_documents;
VACUUM ANALYZE search_postings;
"""


async def load(pool: Pool, documents: Sequence[SearchDocument]) -> None:
    """Load documents; the indexes of the postings are rebuilt at the end."""
    async with connection(pool) as conn:
        await _run(pool, _WITHOUT)
        keys: dict[str, int] = {}
        for start in range(0, len(documents), 1_000):
            part = documents[start : start + 1_000]
            found = [index_terms(document) for document in part]
            new = sorted({term for terms in found for term in terms.shapes} - keys.keys())
            rows = await conn.execute(
                "SELECT t AS term, search_key(%s, t) AS key FROM unnest(%s::text[]) t",
                (TENANT, new),
            )
            keys |= {row["term"]: row["key"] for row in await rows.fetchall()}
            async with conn.cursor().copy(f"COPY search_documents ({_COLUMNS}) FROM STDIN") as copy:
                for document, terms in zip(part, found, strict=True):
                    row = document.model_dump(exclude={"version"})
                    row["files"] = list(document.files)
                    own = [keys[term] for term in terms.shapes]
                    await copy.write_row([*row.values(), terms.length, own])
            rows = await conn.execute(
                "SELECT item_id, id, search_owner(agent_id, kind) AS owner FROM search_documents"
                " WHERE item_id = ANY (%s)",
                ([document.item_id for document in part],),
            )
            known = {row["item_id"]: row for row in await rows.fetchall()}
            async with conn.cursor().copy("COPY search_postings FROM STDIN") as copy:
                for document, terms in zip(part, found, strict=True):
                    row = known[document.item_id]
                    for term, shaped in terms.shapes.items():
                        await copy.write_row((keys[term], row["id"], row["owner"], shaped))
        await _run(pool, _WITH)


async def _run(pool: Pool, script: str) -> None:
    async with connection(pool) as conn:
        for statement in script.strip().split("\n"):
            await conn.execute(statement.encode())
