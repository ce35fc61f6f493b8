-- name: extension
CREATE EXTENSION IF NOT EXISTS vector

-- name: is_visible
SELECT to_regtype('vector') IS NOT NULL AS found,
       to_regprocedure('hamming_distance(bit, bit)') IS NOT NULL AS compares_signs

-- name: use
INSERT INTO search_models (name) VALUES (%(model)s)
ON CONFLICT (name) DO UPDATE SET used_at = clock_timestamp()

-- name: forget
DELETE FROM search_models
WHERE name <> %(model)s AND used_at < clock_timestamp() - make_interval(secs => %(seconds)s)

-- name: enlist
-- For documents whose own transaction could not see the model yet.
INSERT INTO search_signs (document_id, model_id, tenant_id, kind, agent_id)
SELECT d.id, m.id, d.tenant_id, d.kind, d.agent_id
FROM search_models m
CROSS JOIN search_documents d
WHERE m.name = %(model)s
  AND NOT EXISTS (SELECT FROM search_signs s WHERE s.model_id = m.id AND s.document_id = d.id)
ORDER BY d.id DESC
LIMIT %(limit)s
ON CONFLICT DO NOTHING

-- name: take
WITH due AS (
    UPDATE search_models m SET due_at = clock_timestamp() + make_interval(secs => %(seconds)s)
    WHERE m.name = %(model)s AND m.due_at <= clock_timestamp()
      AND EXISTS (SELECT FROM search_signs s WHERE s.model_id = m.id AND s.signs IS NULL)
    RETURNING m.id, m.dimension
)
SELECT due.dimension, s.document_id, s.revision, d.name, left(d.content, %(chars)s) AS content
FROM due
CROSS JOIN LATERAL (
    SELECT s.document_id, s.revision FROM search_signs s
    WHERE s.model_id = due.id AND s.signs IS NULL
    ORDER BY s.document_id DESC
    LIMIT %(limit)s
) s
JOIN search_documents d ON d.id = s.document_id
ORDER BY s.document_id DESC

-- name: begin
UPDATE search_models SET dimension = %(dimension)s, noise = %(noise)s WHERE name = %(model)s

-- name: unembed
UPDATE search_signs SET signs = NULL, revision = revision + 1
WHERE model_id = (SELECT id FROM search_models WHERE name = %(model)s)
  AND length(signs) <> %(dimension)s

-- name: put
-- Documents locked by a transaction that changes knowledge are left for the next batch: nobody
-- waits for us.
WITH held AS (
    SELECT s.document_id, s.model_id, s.tenant_id, g.signs, g.embedding
    FROM unnest(%(documents)s::bigint[], %(revisions)s::integer[], %(signs)s::text[],
                %(embeddings)s::text[]) AS g (document_id, revision, signs, embedding)
    JOIN search_signs s ON s.document_id = g.document_id AND s.revision = g.revision
    WHERE s.model_id = (SELECT id FROM search_models WHERE name = %(model)s)
    ORDER BY s.document_id
    FOR UPDATE OF s SKIP LOCKED
), marked AS (
    UPDATE search_signs s SET signs = h.signs::bit varying
    FROM held h
    WHERE s.document_id = h.document_id AND s.model_id = h.model_id
)
INSERT INTO search_vectors (document_id, model_id, tenant_id, embedding)
SELECT document_id, model_id, tenant_id, embedding::vector FROM held WHERE embedding IS NOT NULL
ON CONFLICT (document_id, model_id) DO UPDATE SET embedding = excluded.embedding

-- name: release
UPDATE search_models SET due_at = clock_timestamp(), failures = 0, error = ''
WHERE name = %(model)s

-- name: put_off
UPDATE search_models
SET due_at = clock_timestamp() + make_interval(secs => %(pause)s), failures = failures + 1,
    error = %(error)s
WHERE name = %(model)s

-- name: failures
SELECT failures FROM search_models WHERE name = %(model)s

-- name: nearest
WITH model AS MATERIALIZED (
    SELECT id, noise FROM search_models WHERE name = %(model)s
), found AS MATERIALIZED (
    SELECT s.document_id, s.model_id
    FROM search_signs s
    WHERE s.model_id = (SELECT id FROM model) AND s.tenant_id = %(tenant_id)s
      AND length(s.signs) = %(dimension)s
      AND (%(kind)s::text IS NULL OR s.kind = %(kind)s)
      AND (%(agent_id)s::text IS NULL OR s.agent_id IS NULL OR s.agent_id = %(agent_id)s)
      -- An array is looked up by the key; of IN the planner would make a filter of all rows.
      AND (%(among)s::text[] IS NULL OR s.document_id = ANY (ARRAY (
          SELECT d.id FROM search_documents d
          WHERE d.tenant_id = %(tenant_id)s AND d.item_id = ANY (%(among)s::text[])
            AND (%(kind)s::text IS NULL OR d.kind = %(kind)s))))
    ORDER BY s.signs <~> %(signs)s::bit varying, s.document_id
    LIMIT %(found)s
), ranked AS (
    SELECT f.document_id, near.similarity
    FROM found f
    -- Of vectors of length 1 the inner product is the cosine, at half the cost. OFFSET is a planner
    -- fence: each is fetched by key and compared once, instead of all read or compared twice.
    CROSS JOIN LATERAL (
        SELECT -(v.embedding <#> %(embedding)s::vector) AS similarity
        FROM search_vectors v
        WHERE v.document_id = f.document_id AND v.model_id = f.model_id
        OFFSET 0
    ) near
    ORDER BY near.similarity DESC, f.document_id
    LIMIT %(limit)s
)
SELECT d.kind, d.item_id, d.name, coalesce(v.agent_id, d.agent_id) AS agent_id,
       left(d.content, %(chars)s) AS content, r.similarity, m.noise, c.said_at AS taught_at,
       v.valid_until, coalesce(v.scope, 'agent') AS scope, v.scope_user AS user
FROM ranked r
JOIN search_documents d ON d.id = r.document_id
LEFT JOIN knowledge_versions v
    ON v.tenant_id = d.tenant_id AND v.kind = d.kind AND v.item_id = d.item_id AND v.valid_to IS NULL
LEFT JOIN changes c ON c.id = v.change_id
CROSS JOIN model m
ORDER BY r.similarity DESC, d.id

-- name: backlog
SELECT count(*) AS documents, count(*) FILTER (WHERE s.signs IS NULL) AS waiting,
       coalesce((SELECT error FROM search_models WHERE name = %(model)s), '') AS error,
       ARRAY(SELECT m.name FROM search_models m
             WHERE m.name <> %(model)s AND m.dimension IS NOT NULL ORDER BY m.name) AS others
FROM search_documents d
LEFT JOIN search_signs s
  ON s.document_id = d.id
 AND s.model_id = (SELECT id FROM search_models WHERE name = %(model)s)
