"""Writes documents into the search index: one row per term and document, visible at commit."""

from __future__ import annotations

from core.adapters.postgres.queries import Connection, joined, sql
from core.domain.models import Kind
from core.knowledge.search.documents import SearchDocument, impacts, index_terms


async def index_document(conn: Connection, document: SearchDocument) -> None:
    """Add a document to the index or replace it; the caller commits."""
    terms = index_terms(document)
    weights = impacts(terms)
    row = {key: _storable(value) for key, value in document.model_dump().items()}
    found = await (await conn.execute(sql("search.put_document"), row)).fetchone()
    assert found is not None
    postings = {
        "id": found["id"],
        "tenant_id": document.tenant_id,
        "agent_id": document.agent_id,
        "kind": document.kind,
        "words": joined([*terms.counts, *terms.words]),
        "terms": joined(weights),
        "impacts": joined(str(round(part * 10_000)) for part in weights.values()),
    }
    if found["was_there"]:
        await conn.execute(sql("search.drop_postings"), {"id": found["id"]})
    await conn.execute(sql("search.put_postings"), postings)


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
