"""The search index on PostgreSQL, as contract suites add documents to it."""

from __future__ import annotations

from core.adapters.postgres.queries import Pool, connection, transaction
from core.adapters.postgres.search import drop_document, index_document
from core.domain.models import Kind
from core.knowledge.search.documents import SearchDocument


class PostgresIndex:
    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def put(self, document: SearchDocument) -> None:
        async with transaction(self._pool) as conn:
            await index_document(conn, document)

    async def drop(self, tenant_id: str, kind: Kind, item_id: str) -> None:
        async with connection(self._pool) as conn:
            await drop_document(conn, tenant_id, kind, item_id)
