-- name: put_document
INSERT INTO search_documents (tenant_id, kind, item_id, agent_id, name, content, files, version)
VALUES (%(tenant_id)s, %(kind)s, %(item_id)s, %(agent_id)s, %(name)s, %(content)s, %(files)s,
        %(version)s)
ON CONFLICT (tenant_id, kind, item_id) DO UPDATE
SET agent_id = excluded.agent_id, name = excluded.name, content = excluded.content,
    files = excluded.files, version = excluded.version, revision = excluded.revision
RETURNING id

-- name: drop_postings
DELETE FROM search_postings WHERE document_id = %(id)s

-- name: put_postings
INSERT INTO search_postings (term, document_id, agent, impact, kind)
SELECT search_key(%(tenant_id)s, t.term), %(id)s, coalesce(hashtext(%(agent_id)s::text), 0),
       t.impact, left(%(kind)s::text, 1)::"char"
FROM unnest(%(terms)s::text[], %(impacts)s::smallint[]) AS t (term, impact)

-- name: put_vocabulary
-- A word may be there twice where two writers brought it at once: neither waits for the other.
INSERT INTO search_vocabulary (term)
SELECT n.key
FROM (SELECT search_key(%(tenant_id)s, t.term) AS key FROM unnest(%(words)s::text[]) AS t (term)) n
WHERE NOT EXISTS (SELECT FROM search_vocabulary v WHERE v.term = n.key)

-- name: drop_document
DELETE FROM search_documents
WHERE tenant_id = %(tenant_id)s AND kind = %(kind)s AND item_id = %(item_id)s

-- name: describe
-- The corpus, and on each row a term of those that stand somewhere, in one trip. Counting stops at
-- the sample; ids tell the rest. `mark` is the newest revision of a kind's documents, those of the
-- agent or, without one, those that the tenant shares.
SELECT c.*, f.*
FROM (
    SELECT count(*) AS seen, coalesce(min(s.id), 0) AS oldest, coalesce(max(s.id), 0) AS last,
           coalesce((SELECT d.id FROM search_documents d WHERE d.tenant_id = %(tenant_id)s
                     ORDER BY d.id DESC LIMIT 1), 0) AS newest,
           coalesce(CASE WHEN %(agent_id)s::text IS NULL THEN
               (SELECT max(d.revision) FROM search_documents d
                WHERE d.tenant_id = %(tenant_id)s AND d.kind = %(kind)s AND d.agent_id IS NULL)
           ELSE
               (SELECT max(d.revision) FROM search_documents d
                WHERE d.tenant_id = %(tenant_id)s AND d.kind = %(kind)s
                  AND d.agent_id = %(agent_id)s)
           END, 0) AS mark
    FROM (SELECT id FROM search_documents WHERE tenant_id = %(tenant_id)s
          ORDER BY id LIMIT %(sample)s) s
) c
LEFT JOIN (
    SELECT t.term, f.term_seen, f.term_last
    FROM unnest(%(terms)s::text[]) AS t (term)
    CROSS JOIN LATERAL (
        SELECT count(*) AS term_seen, max(s.document_id) AS term_last
        FROM (SELECT p.document_id FROM search_postings p
              WHERE p.term = search_key(%(tenant_id)s, t.term)
              ORDER BY p.document_id LIMIT %(sample)s) s
    ) f
    WHERE f.term_seen > 0
) f ON true

-- name: frequencies
SELECT t.term, f.seen, f.last
FROM unnest(%(terms)s::text[]) AS t (term)
CROSS JOIN LATERAL (
    SELECT count(*) AS seen, max(s.document_id) AS last
    FROM (SELECT p.document_id FROM search_postings p
          WHERE p.term = search_key(%(tenant_id)s, t.term)
          ORDER BY p.document_id LIMIT %(sample)s) s
) f
WHERE f.seen > 0

-- name: known
SELECT t.term
FROM unnest(%(terms)s::text[]) AS t (term)
WHERE EXISTS (SELECT FROM search_vocabulary v WHERE v.term = search_key(%(tenant_id)s, t.term))

-- name: rank
-- BM25 as core/search/ranking.py has it; weights are idf. A few rare terms find the documents
-- that are worth it, the others only add to those. `needed` is what a document must hold of
-- all weights. The agent is looked at twice: a posting has but a hash of it.
WITH asked AS MATERIALIZED (
    SELECT a.weight, a.finds, search_key(%(tenant_id)s, a.term) AS key
    FROM unnest(%(terms)s::text[], %(weights)s::float8[], %(finds)s::boolean[])
         AS a (term, weight, finds)
), found AS MATERIALIZED (
    SELECT p.document_id AS id, sum(a.weight * p.impact) AS impact, sum(a.weight) AS weight
    FROM asked a
    JOIN search_postings p ON p.term = a.key
    WHERE a.finds
      AND (%(kind)s::text IS NULL OR p.kind = left(%(kind)s::text, 1)::"char")
      AND (%(agent_id)s::text IS NULL OR p.agent IN (0, hashtext(%(agent_id)s::text)))
    GROUP BY p.document_id
    ORDER BY impact DESC, p.document_id
    LIMIT %(found)s
), rest AS MATERIALIZED (
    -- OFFSET 0 has each term looked up with all ids at once: without it, all terms of each
    -- document would be read.
    SELECT p.document_id AS id, sum(a.weight * p.impact) AS impact, sum(a.weight) AS weight
    FROM asked a
    CROSS JOIN LATERAL (
        SELECT h.document_id, h.impact
        FROM search_postings h
        WHERE h.term = a.key AND h.document_id = ANY (ARRAY(SELECT f.id FROM found f))
        OFFSET 0
    ) p
    WHERE NOT a.finds
    GROUP BY p.document_id
), best AS MATERIALIZED (
    SELECT f.id, (f.impact + coalesce(r.impact, 0)) / 10000 AS bm25
    FROM found f
    LEFT JOIN rest r ON r.id = f.id
    WHERE f.weight + coalesce(r.weight, 0) >= %(needed)s
    ORDER BY bm25 DESC, f.id
    LIMIT %(limit)s
)
SELECT d.kind, d.item_id, d.name, d.agent_id, left(d.content, %(scanned)s) AS content, d.files,
       b.bm25
FROM best b
JOIN search_documents d ON d.id = b.id
WHERE %(agent_id)s::text IS NULL OR d.agent_id IS NULL OR d.agent_id = %(agent_id)s
ORDER BY b.bm25 DESC, d.id

-- name: skills
SELECT item_id, version FROM search_documents WHERE tenant_id = %(tenant_id)s AND kind = 'SKILL'

-- name: adopt_skill
UPDATE search_documents SET version = %(version)s
WHERE tenant_id = %(tenant_id)s AND kind = 'SKILL' AND item_id = %(item_id)s AND version = ''
