-- name: put_document
-- The update comes first: an insert that turns into an update uses up an id, and those of postings
-- have 31 bits. `keys` of a document that was there are replaced with its postings, of which the
-- next statements ask by a setting: read first, it would take a trip of its own.
WITH put AS (
    SELECT %(tenant_id)s::text AS tenant_id, %(kind)s::text AS kind, %(item_id)s::text AS item_id,
           %(agent_id)s::text AS agent_id, %(name)s::text AS name, %(content)s::text AS content,
           %(files)s::text[] AS files, %(version)s::text AS version, %(length)s::integer AS length,
           (SELECT array_agg(search_key(%(tenant_id)s, t.term))
            FROM unnest(string_to_array(%(terms)s, E'\n')) AS t (term)) AS keys
), updated AS (
    UPDATE search_documents d
    SET agent_id = p.agent_id, name = p.name, content = p.content, files = p.files,
        version = p.version, length = p.length, revision = DEFAULT
    FROM put p
    WHERE d.tenant_id = p.tenant_id AND d.kind = p.kind AND d.item_id = p.item_id
    RETURNING true AS was_there
), inserted AS (
    INSERT INTO search_documents AS d
        (tenant_id, kind, item_id, agent_id, name, content, files, version, length, keys)
    SELECT p.tenant_id, p.kind, p.item_id, p.agent_id, p.name, p.content, p.files, p.version,
           p.length, coalesce(p.keys, '{}')
    FROM put p WHERE NOT EXISTS (SELECT FROM updated)
    ON CONFLICT (tenant_id, kind, item_id) DO UPDATE
    SET agent_id = excluded.agent_id, name = excluded.name, content = excluded.content,
        files = excluded.files, version = excluded.version, length = excluded.length,
        revision = excluded.revision
    RETURNING d.xmax <> 0 AS was_there
)
SELECT set_config('skill_worker.was_there', p.was_there::text, true)
FROM (SELECT was_there FROM updated UNION ALL SELECT was_there FROM inserted) p

-- name: put_new
-- Documents of one tenant and kind that are not there yet, with their postings.
WITH put AS (
    SELECT p.*, ARRAY (SELECT search_key(%(tenant_id)s, t.term)
                       FROM unnest(string_to_array(p.terms, E'\n')) AS t (term)) AS keys
    FROM unnest(%(item_ids)s::text[], %(agent_ids)s::text[], %(names)s::text[], %(contents)s::text[],
                %(lengths)s::integer[], %(terms)s::text[], %(shapes)s::text[]) WITH ORDINALITY
         AS p (item_id, agent_id, name, content, length, terms, shapes, place)
), inserted AS (
    INSERT INTO search_documents (tenant_id, kind, item_id, agent_id, name, content, length, keys)
    SELECT %(tenant_id)s, %(kind)s, item_id, agent_id, name, content, length, keys
    FROM put ORDER BY place
    RETURNING id, item_id
), posted AS (
    INSERT INTO search_postings (term, document_id, owner, shape)
    SELECT t.term, i.id, search_owner(p.agent_id, %(kind)s), t.shape
    FROM inserted i JOIN put p USING (item_id),
         unnest(p.keys, string_to_array(p.shapes, E'\n')::smallint[]) AS t (term, shape)
)
SELECT count(*) AS number FROM inserted

-- name: drop_postings
WITH old AS MATERIALIZED (
    SELECT d.id, d.keys FROM search_documents d
    WHERE d.tenant_id = %(tenant_id)s AND d.kind = %(kind)s AND d.item_id = %(item_id)s
      AND current_setting('skill_worker.was_there')::boolean
), gone AS (
    DELETE FROM search_postings p USING old o
    WHERE p.term = ANY (o.keys) AND p.document_id = o.id
)
UPDATE search_documents d
SET keys = (SELECT coalesce(array_agg(search_key(%(tenant_id)s, t.term)), '{}')
            FROM unnest(string_to_array(%(terms)s, E'\n')) AS t (term))
FROM old o WHERE d.id = o.id

-- name: drop_some
DELETE FROM search_postings p
USING unnest(string_to_array(%(terms)s, E'\n')) AS t (term), search_documents d
WHERE p.term = search_key(%(tenant_id)s, t.term) AND p.document_id = d.id
  AND d.tenant_id = %(tenant_id)s AND d.kind = %(kind)s AND d.item_id = %(item_id)s
  AND current_setting('skill_worker.was_there')::boolean

-- name: put_postings
INSERT INTO search_postings (term, document_id, owner, shape)
SELECT search_key(%(tenant_id)s, t.term), d.id, search_owner(%(agent_id)s, %(kind)s), t.shape
FROM search_documents d,
     unnest(string_to_array(%(terms)s, E'\n'),
            string_to_array(%(shapes)s, E'\n')::smallint[]) AS t (term, shape)
WHERE d.tenant_id = %(tenant_id)s AND d.kind = %(kind)s AND d.item_id = %(item_id)s

-- name: drop_document
DELETE FROM search_documents
WHERE tenant_id = %(tenant_id)s AND kind = %(kind)s AND item_id = %(item_id)s

-- name: describe
-- The corpus, and how frequent each known term is: term -> [seen, last], in one round trip.
-- Counting stops at the sample, of the rough ones at a few; the rest is extrapolated from ids.
-- `mark` is the newest revision of a kind's documents, of the agent, if one is given, and of those
-- that the tenant shares.
SELECT s.documents, s.length,
       coalesce((SELECT d.id FROM search_documents d WHERE d.tenant_id = %(tenant_id)s
                 ORDER BY d.id LIMIT 1), 0) AS oldest,
       coalesce((SELECT d.id FROM search_documents d WHERE d.tenant_id = %(tenant_id)s
                 ORDER BY d.id DESC LIMIT 1), 0) AS newest,
       coalesce(greatest(
           (SELECT d.revision FROM search_documents d
            WHERE d.tenant_id = %(tenant_id)s AND d.kind = %(kind)s AND d.agent_id IS NULL
            ORDER BY d.agent_id DESC, d.revision DESC LIMIT 1),  -- as in neighbours.newest
           (SELECT max(d.revision) FROM search_documents d
            WHERE d.tenant_id = %(tenant_id)s AND d.kind = %(kind)s
              AND d.agent_id = %(agent_id)s)), 0) AS mark,
       (SELECT coalesce(jsonb_object_agg(t.term, jsonb_build_array(f.seen, f.last)), '{}')
        FROM (SELECT a.term, %(sample)s::int AS most
              FROM unnest(string_to_array(%(terms)s, E'\n')) AS a (term)
              UNION ALL
              SELECT b.term, %(few)s::int
              FROM unnest(string_to_array(%(rough)s, E'\n')) AS b (term)) t
        CROSS JOIN LATERAL (
            SELECT count(*) AS seen, max(s.document_id) AS last
            FROM (SELECT p.document_id FROM search_postings p
                  WHERE p.term = search_key(%(tenant_id)s, t.term)
                  ORDER BY p.document_id LIMIT t.most) s
        ) f
        WHERE f.seen > 0) AS terms
FROM (SELECT coalesce(sum(z.documents), 0)::bigint AS documents,
             coalesce(sum(z.length), 0)::bigint AS length
      FROM search_sizes z WHERE z.tenant_id = %(tenant_id)s) s

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
SELECT t.term
FROM unnest(string_to_array(%(terms)s, E'\n')) AS t (term)
CROSS JOIN LATERAL (
    SELECT FROM search_postings p WHERE p.term = search_key(%(tenant_id)s, t.term) LIMIT 1
) p

-- name: rank
-- BM25 as in core/knowledge/search/ranking.py; weights are idf. A few rare terms find the
-- documents worth scoring, the others only add to their scores. `needed` is the part of all floors
-- that a document must contain, `enough` that of those that were typed. OFFSET 0 is a planner fence: the other terms are looked up in each
-- document found, instead of reading all their postings. A posting has only 14 bits of its agent's
-- hash: the document tells.
WITH asked AS MATERIALIZED (
    SELECT a.weight, a.floor, a.typed, a.finds, search_key(%(tenant_id)s, a.term) AS key
    FROM unnest(string_to_array(%(terms)s, E'\n'),
                string_to_array(%(weights)s, E'\n')::float8[],
                string_to_array(%(floors)s, E'\n')::float8[],
                string_to_array(%(typed)s, E'\n')::float8[],
                string_to_array(%(finds)s, E'\n')::boolean[])
         AS a (term, weight, floor, typed, finds)
), scope AS MATERIALIZED (
    SELECT CASE WHEN %(agent_id)s::text IS NOT NULL
           THEN search_owner(%(agent_id)s, 'MEMORY') >> 2 END AS agent,
           search_owner(NULL, 'MEMORY') >> 2 AS shared, search_owner(NULL, %(kind)s) & 3 AS kind
), found AS MATERIALIZED (
    SELECT p.document_id AS id, sum(a.floor) AS floor, sum(a.typed) AS typed,
           sum(a.weight * search_impact(p.shape, %(base)s::float8, %(slope)s::float8)) AS impact
    FROM asked a
    JOIN search_postings p ON p.term = a.key
    WHERE a.finds
      AND ((SELECT s.agent FROM scope s) IS NULL
           OR p.owner >> 2 = (SELECT s.agent FROM scope s)
           OR p.owner >> 2 = (SELECT s.shared FROM scope s))
      AND ((SELECT s.kind FROM scope s) IS NULL OR p.owner & 3 = (SELECT s.kind FROM scope s))
    GROUP BY p.document_id
    HAVING sum(a.floor) >= %(needed)s
            - (SELECT coalesce(sum(o.floor), 0) FROM asked o WHERE NOT o.finds)
        OR sum(a.typed) >= %(enough)s
            - (SELECT coalesce(sum(o.typed), 0) FROM asked o WHERE NOT o.finds)
    ORDER BY impact DESC, p.document_id
    LIMIT %(found)s
), rest AS MATERIALIZED (
    SELECT p.document_id AS id, sum(o.floor) AS floor, sum(o.typed) AS typed,
           sum(o.weight * search_impact(p.shape, %(base)s::float8, %(slope)s::float8)) AS impact
    FROM asked o
    CROSS JOIN (SELECT array_agg(f.id ORDER BY f.id) AS ids FROM found f) f
    CROSS JOIN LATERAL (
        SELECT h.document_id, h.shape
        FROM search_postings h
        WHERE h.term = o.key AND h.document_id = ANY (f.ids)
        OFFSET 0
    ) p
    WHERE NOT o.finds
    GROUP BY p.document_id
), best AS MATERIALIZED (
    SELECT f.id, f.impact + coalesce(r.impact, 0) AS bm25
    FROM found f
    JOIN search_documents d ON d.id = f.id
    LEFT JOIN rest r ON r.id = f.id
    WHERE (f.floor + coalesce(r.floor, 0) >= %(needed)s
           OR f.typed + coalesce(r.typed, 0) >= %(enough)s)
      AND (%(agent_id)s::text IS NULL OR d.agent_id IS NULL OR d.agent_id = %(agent_id)s)
      AND (%(kind)s::text IS NULL OR d.kind = %(kind)s)
    ORDER BY bm25 DESC, f.id
    LIMIT %(limit)s
)
SELECT d.kind, d.item_id, d.name, coalesce(v.agent_id, d.agent_id) AS agent_id,
       left(d.content, %(scanned)s) AS content, d.files, b.bm25, c.said_at AS taught_at,
       v.valid_until, coalesce(v.scope, 'agent') AS scope, v.scope_user AS user
FROM best b
JOIN search_documents d ON d.id = b.id
LEFT JOIN knowledge_versions v
    ON v.tenant_id = d.tenant_id AND v.kind = d.kind AND v.item_id = d.item_id AND v.valid_to IS NULL
LEFT JOIN changes c ON c.id = v.change_id
ORDER BY b.bm25 DESC, d.id

-- name: skills
SELECT item_id, version FROM search_documents WHERE tenant_id = %(tenant_id)s AND kind = 'SKILL'

-- name: adopt_skill
UPDATE search_documents SET version = %(version)s
WHERE tenant_id = %(tenant_id)s AND kind = 'SKILL' AND item_id = %(item_id)s AND version = ''
