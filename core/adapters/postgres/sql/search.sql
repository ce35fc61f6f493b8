-- name: put_document
INSERT INTO search_documents (tenant_id, kind, item_id, agent_id, name, content, files, version)
VALUES (%(tenant_id)s, %(kind)s, %(item_id)s, %(agent_id)s, %(name)s, %(content)s, %(files)s,
        %(version)s)
ON CONFLICT (tenant_id, kind, item_id) DO UPDATE
SET agent_id = excluded.agent_id, name = excluded.name, content = excluded.content,
    files = excluded.files, version = excluded.version, revision = excluded.revision
RETURNING id, xmax <> 0 AS was_there

-- name: drop_postings
DELETE FROM search_postings WHERE document_id = %(id)s

-- name: put_postings
-- And the words, in the same round trip. Two concurrent writers may insert a word twice: neither
-- waits for the other.
WITH postings AS (
    INSERT INTO search_postings (term, document_id, agent, impact, kind)
    SELECT search_key(%(tenant_id)s, t.term), %(id)s, coalesce(hashtext(%(agent_id)s::text), 0),
           t.impact, left(%(kind)s::text, 1)::"char"
    FROM unnest(string_to_array(%(terms)s, E'\n'),
                string_to_array(%(impacts)s, E'\n')::smallint[]) AS t (term, impact)
)
INSERT INTO search_vocabulary (term)
SELECT n.key
FROM (SELECT search_key(%(tenant_id)s, t.term) AS key
      FROM unnest(string_to_array(%(words)s, E'\n')) AS t (term)) n
WHERE NOT EXISTS (SELECT FROM search_vocabulary v WHERE v.term = n.key)

-- name: drop_document
DELETE FROM search_documents
WHERE tenant_id = %(tenant_id)s AND kind = %(kind)s AND item_id = %(item_id)s

-- name: describe
-- The corpus, and how frequent each known term is: term -> [seen, last], in one round trip.
-- Counting stops at the sample; the rest is extrapolated from ids. `mark` is the newest revision
-- of a kind's documents, of the agent or, without one, of those that the tenant shares.
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
       END, 0) AS mark,
       (SELECT coalesce(jsonb_object_agg(t.term, jsonb_build_array(f.seen, f.last)), '{}')
        FROM unnest(string_to_array(%(terms)s, E'\n')) AS t (term)
        CROSS JOIN LATERAL (
            SELECT count(*) AS seen, max(s.document_id) AS last
            FROM (SELECT p.document_id FROM search_postings p
                  WHERE p.term = search_key(%(tenant_id)s, t.term)
                  ORDER BY p.document_id LIMIT %(sample)s) s
        ) f
        WHERE f.seen > 0) AS terms
FROM (SELECT id FROM search_documents WHERE tenant_id = %(tenant_id)s
      ORDER BY id LIMIT %(sample)s) s

-- name: frequencies
SELECT t.term, f.seen, f.last
FROM unnest(string_to_array(%(terms)s, E'\n')) AS t (term)
CROSS JOIN LATERAL (
    SELECT count(*) AS seen, max(s.document_id) AS last
    FROM (SELECT p.document_id FROM search_postings p
          WHERE p.term = search_key(%(tenant_id)s, t.term)
          ORDER BY p.document_id LIMIT %(sample)s) s
) f
WHERE f.seen > 0

-- name: known
-- A list of keys is looked up in index order, many in one scan.
WITH asked AS MATERIALIZED (
    SELECT t.term, search_key(%(tenant_id)s, t.term) AS key
    FROM unnest(string_to_array(%(terms)s, E'\n')) AS t (term)
), stored AS MATERIALIZED (
    SELECT array_agg(v.term) AS keys
    FROM search_vocabulary v
    WHERE v.term = ANY (ARRAY(SELECT a.key FROM asked a))
)
SELECT a.term FROM asked a, stored s WHERE a.key = ANY (s.keys)

-- name: rank
-- BM25 as in core/knowledge/search/ranking.py; weights are idf. A few rare terms find the
-- documents worth scoring, the others only add to their scores. `needed` is the part of all
-- weights that a document must contain. OFFSET 0 is a planner fence: the other terms are looked up
-- in each document, instead of reading all of its terms. The agent is checked twice because a
-- posting has only its hash.
WITH asked AS MATERIALIZED (
    SELECT a.weight, a.finds, search_key(%(tenant_id)s, a.term) AS key,
           hashtext(%(agent_id)s::text) AS agent, left(%(kind)s::text, 1)::"char" AS kind
    FROM unnest(string_to_array(%(terms)s, E'\n'),
                string_to_array(%(weights)s, E'\n')::float8[],
                string_to_array(%(finds)s, E'\n')::boolean[])
         AS a (term, weight, finds)
), found AS MATERIALIZED (
    SELECT p.document_id AS id, sum(a.weight * p.impact) AS impact, sum(a.weight) AS weight
    FROM asked a
    JOIN search_postings p ON p.term = a.key
    WHERE a.finds
      AND (a.kind IS NULL OR p.kind = a.kind)
      AND (a.agent IS NULL OR p.agent = 0 OR p.agent = a.agent)
    GROUP BY p.document_id
    HAVING sum(a.weight) >= %(needed)s
        - (SELECT coalesce(sum(o.weight), 0) FROM asked o WHERE NOT o.finds)
    ORDER BY impact DESC, p.document_id
    LIMIT %(found)s
), rest AS MATERIALIZED (
    SELECT f.id, sum(o.weights[p.place] * p.impact) AS impact, sum(o.weights[p.place]) AS weight
    FROM found f
    CROSS JOIN (SELECT array_agg(a.key) AS keys, array_agg(a.weight) AS weights
                FROM asked a WHERE NOT a.finds) o
    CROSS JOIN LATERAL (
        SELECT array_position(o.keys, h.term) AS place, h.impact
        FROM search_postings h
        WHERE h.document_id = f.id AND h.term = ANY (o.keys)
        OFFSET 0
    ) p
    GROUP BY f.id
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
