"""Postings with counts and lengths; those of existing documents are made again from their texts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import structlog
from alembic import op

from core.knowledge.search.documents import SearchDocument, index_terms

revision = "0006"
down_revision = "0005"

log = structlog.get_logger(__name__)

_AT_ONCE = 500
_PAGE = """
SELECT id, tenant_id, kind, item_id, agent_id, name, content, files, version
FROM search_documents WHERE id > %s ORDER BY id LIMIT %s
"""
_POSTINGS = """
INSERT INTO search_postings (term, document_id, owner, shape)
SELECT search_key(d.tenant_id, t.term), d.id, search_owner(d.agent_id, d.kind), t.shape
FROM unnest(string_to_array(%(terms)s, E'\\n'), string_to_array(%(shapes)s, E'\\n')::smallint[])
     AS t (term, shape)
CROSS JOIN search_documents d WHERE d.id = %(id)s
"""
_KEYS = """
UPDATE search_documents d
SET length = %(length)s,
    keys = ARRAY(SELECT search_key(d.tenant_id, t)
                 FROM unnest(string_to_array(%(terms)s, E'\\n')) t)
WHERE d.id = %(id)s
"""


def upgrade() -> None:
    """Run the SQL file, and index all documents anew."""
    bind = op.get_bind()
    script = Path(__file__).with_suffix(".sql").read_text("utf-8")
    bind.exec_driver_sql(script, execution_options={"no_parameters": True})
    count = bind.exec_driver_sql("SELECT count(*) FROM search_documents").scalar_one()
    if count:
        log.info("search.rebuilding", documents=count)
    bind.exec_driver_sql(
        "INSERT INTO search_sizes SELECT tenant_id, count(*), 0 FROM search_documents GROUP BY 1"
    )
    for row in _rows():
        _index(row)
    bind.exec_driver_sql(
        "ALTER TABLE search_postings ADD PRIMARY KEY (term, document_id) INCLUDE (owner, shape)"
    )
    bind.exec_driver_sql("SELECT search_sizes_fold(tenant_id) FROM search_sizes GROUP BY tenant_id")


def _rows() -> Iterator[Mapping[str, object]]:
    last = 0
    while page := op.get_bind().exec_driver_sql(_PAGE, (last, _AT_ONCE)).mappings().all():
        yield from page
        last = page[-1]["id"]


def _index(row: Mapping[str, object]) -> None:
    document = SearchDocument.model_validate({k: v for k, v in row.items() if k != "id"})
    found = index_terms(document)
    shapes = found.shapes
    params = {
        "id": row["id"],
        "terms": "\n".join(shapes),
        "shapes": "\n".join(map(str, shapes.values())),
        "length": found.length,
    }
    for statement in (_POSTINGS, _KEYS):
        op.get_bind().exec_driver_sql(statement, params)
