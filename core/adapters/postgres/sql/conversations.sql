-- name: before
-- The chain of answers, followed back a few steps, and the thread; what is answered comes along
-- however long ago it was said. An id of the source goes before one of ours; `inbox` and
-- `inbox/TENANT` are one source here: pieces came by the first before each tenant had its own.
WITH RECURSIVE answered AS (
    SELECT found.id, 1 AS depth FROM (
        SELECT f.id, 1 AS place FROM feedback f
        WHERE f.source IN (%(source)s, split_part(%(source)s, '/', 1),
                           %(source)s || '/' || %(tenant_id)s)
          AND f.source_id = %(in_reply_to)s
          AND f.tenant_id = %(tenant_id)s
        UNION ALL
        SELECT f.id, 2 FROM feedback f
        WHERE f.id = %(in_reply_to)s AND f.tenant_id = %(tenant_id)s
        ORDER BY place LIMIT 1
    ) found
    WHERE found.id <> %(id)s
), chain AS (
    SELECT id, depth FROM answered
    UNION ALL
    SELECT further.id, chain.depth + 1
    FROM chain
    JOIN feedback f ON f.id = chain.id
    CROSS JOIN LATERAL (
        SELECT b.id, 1 AS place FROM feedback b
        WHERE b.source IN (f.source, split_part(f.source, '/', 1), f.source || '/' || f.tenant_id)
          AND b.source_id = f.in_reply_to AND b.tenant_id = f.tenant_id
        UNION ALL
        SELECT b.id, 2 FROM feedback b WHERE b.id = f.in_reply_to AND b.tenant_id = f.tenant_id
        ORDER BY place LIMIT 1
    ) further
    WHERE chain.depth < %(limit)s AND further.id <> %(id)s
), thread AS (
    SELECT f.id FROM feedback f
    WHERE f.tenant_id = %(tenant_id)s AND f.thread = %(thread)s
      AND (f.said_at, f.created_at, f.id) < (%(said_at)s, %(created_at)s, %(id)s)
    ORDER BY f.said_at DESC, f.created_at DESC, f.id DESC
    LIMIT %(limit)s
)
SELECT f.id, f.said_at, f.author, left(f.content, %(chars)s) AS content, f.output,
       EXISTS (SELECT FROM answered a WHERE a.id = f.id) AS is_answered
FROM feedback f
WHERE f.id IN (SELECT id FROM chain UNION SELECT id FROM thread)
ORDER BY is_answered DESC, f.said_at DESC, f.created_at DESC, f.id DESC
LIMIT %(limit)s

-- name: taught
-- Changes of these pieces that stand, wait or were taken back, and what they only repeated. The
-- text that is searched serves as that of a table or a skill.
WITH lessons AS (
    SELECT c.feedback_id, c.kind, c.target_id AS id, c.target_name AS name, c.operation, c.status,
           c.agent_id, left(c.before ->> 'content', %(chars)s) AS before, c.created_at AS at
    FROM changes c
    WHERE c.feedback_id = ANY(%(ids)s) AND c.tenant_id = %(tenant_id)s
      AND c.kind <> 'AGENT_SKILLS' AND c.reverts IS NULL
      AND c.status IN ('applied', 'held', 'reverted')
    UNION ALL
    SELECT d.feedback_id, r.receipt ->> 'kind', r.receipt ->> 'target_id',
           coalesce(r.receipt ->> 'target_name', ''), 'UPDATE', NULL, d.agent_id, NULL,
           '-infinity'
    FROM candidates d
    CROSS JOIN LATERAL jsonb_array_elements(
        CASE WHEN jsonb_typeof(d.verdict -> 'receipts') = 'array'
             THEN d.verdict -> 'receipts' ELSE '[]' END) AS r (receipt)
    WHERE d.feedback_id = ANY(%(ids)s) AND r.receipt ->> 'status' = 'known'
      AND r.receipt ->> 'kind' <> 'AGENT_SKILLS'
      AND r.receipt ->> 'target_id' IS NOT NULL
)
SELECT l.feedback_id, l.kind, l.id, l.name, l.operation, l.status, l.agent_id,
       CASE WHEN l.kind = 'MEMORY' THEN l.before END AS before,
       left(CASE WHEN l.kind = 'MEMORY' THEN (
           SELECT v.content FROM knowledge_versions v
           WHERE v.tenant_id = %(tenant_id)s AND v.kind = 'MEMORY' AND v.item_id = l.id
             AND v.valid_to IS NULL)
       ELSE (
           SELECT d.content FROM search_documents d
           WHERE d.tenant_id = %(tenant_id)s AND d.kind = l.kind AND d.item_id = l.id)
       END, %(chars)s) AS known
FROM lessons l
ORDER BY l.at, l.id
LIMIT 100
