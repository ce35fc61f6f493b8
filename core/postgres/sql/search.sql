-- name: put_document
INSERT INTO search_documents (tenant_id, kind, item_id, agent_id, name, content, length, version)
VALUES (%(tenant_id)s, %(kind)s, %(item_id)s, %(agent_id)s, %(name)s, %(content)s, %(length)s,
        %(version)s)
ON CONFLICT (tenant_id, kind, item_id) DO UPDATE
SET agent_id = excluded.agent_id, name = excluded.name, content = excluded.content,
    length = excluded.length, version = excluded.version
RETURNING id

-- name: drop_postings
DELETE FROM search_postings WHERE document_id = %(id)s

-- name: put_postings
INSERT INTO search_postings (tenant_id, term, document_id, tf)
SELECT %(tenant_id)s, t.term, %(id)s, t.tf
FROM unnest(%(terms)s::text[], %(tfs)s::smallint[]) AS t (term, tf)

-- name: drop_document
DELETE FROM search_documents
WHERE tenant_id = %(tenant_id)s AND kind = %(kind)s AND item_id = %(item_id)s

-- name: corpus
-- Counting stops at the sample; ids tell the rest.
SELECT count(*) AS seen, coalesce(avg(s.length), 0)::float8 AS mean_length,
       coalesce(min(s.id), 0) AS oldest, coalesce(max(s.id), 0) AS last,
       coalesce((SELECT d.id FROM search_documents d WHERE d.tenant_id = %(tenant_id)s
                 ORDER BY d.id DESC LIMIT 1), 0) AS newest
FROM (SELECT id, length FROM search_documents WHERE tenant_id = %(tenant_id)s
      ORDER BY id LIMIT %(sample)s) s

-- name: frequencies
SELECT t.term, f.seen, f.last
FROM unnest(%(terms)s::text[]) AS t (term)
CROSS JOIN LATERAL (
    SELECT count(*) AS seen, max(s.document_id) AS last
    FROM (SELECT p.document_id FROM search_postings p
          WHERE p.tenant_id = %(tenant_id)s AND p.term = t.term
          ORDER BY p.document_id LIMIT %(sample)s) s
) f
WHERE f.seen > 0

-- name: rank
-- BM25 as core/search/ranking.py has it; weights are idf. A few rare terms find the documents
-- that are worth it, all terms score those.
WITH asked AS MATERIALIZED (
    SELECT * FROM unnest(%(terms)s::text[], %(weights)s::float8[]) AS a (term, weight)
), found AS MATERIALIZED (
    SELECT p.document_id AS id
    FROM asked a
    JOIN search_postings p ON p.tenant_id = %(tenant_id)s AND p.term = a.term
    JOIN search_documents d ON d.id = p.document_id
    WHERE a.term = ANY (%(finding)s)
      AND (%(kind)s::text IS NULL OR d.kind = %(kind)s)
      AND (%(agent_id)s::text IS NULL OR d.agent_id IS NULL OR d.agent_id = %(agent_id)s)
    GROUP BY p.document_id
    ORDER BY sum(a.weight * p.tf * (%(k1)s + 1)
                 / (p.tf + %(k1)s * (1 - %(b)s + %(b)s * d.length / %(mean_length)s))) DESC,
             p.document_id
    LIMIT %(found)s
)
SELECT d.kind, d.item_id, d.name, d.agent_id, left(d.content, %(scanned)s) AS content, s.bm25
FROM found f
JOIN search_documents d ON d.id = f.id
CROSS JOIN LATERAL (
    SELECT sum(a.weight * p.tf * (%(k1)s + 1)
               / (p.tf + %(k1)s * (1 - %(b)s + %(b)s * d.length / %(mean_length)s))) AS bm25
    FROM asked a
    JOIN search_postings p
      ON p.tenant_id = %(tenant_id)s AND p.term = a.term AND p.document_id = d.id
) s
ORDER BY s.bm25 DESC, d.id
LIMIT %(limit)s

-- name: skills
SELECT item_id, version FROM search_documents WHERE tenant_id = %(tenant_id)s AND kind = 'SKILL'

-- name: adopt_skill
UPDATE search_documents SET version = %(version)s
WHERE tenant_id = %(tenant_id)s AND kind = 'SKILL' AND item_id = %(item_id)s AND version = ''
