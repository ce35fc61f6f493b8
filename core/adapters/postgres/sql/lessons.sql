-- name: cursor
SELECT txid, id FROM lesson_cursor

-- name: collected
-- All or nothing: another worker that has moved on has stored the same evidence.
WITH moved AS (
    INSERT INTO lesson_cursor AS c (txid, id) VALUES (%(until_txid)s, %(until_id)s)
    ON CONFLICT (one) DO UPDATE SET txid = excluded.txid, id = excluded.id
    WHERE (c.txid, c.id) = (%(txid)s, %(id)s) RETURNING one
), stored AS (
    INSERT INTO lesson_evidence (tenant_id, id, key, kind, about, operation, change_id, feedback_id,
                                 candidate_id, at, refused)
    SELECT e.tenant_id, e.id, e.key, e.kind, e.about, e.operation, e.change_id, e.feedback_id,
           e.candidate_id, e.at, e.refused
    FROM moved, jsonb_to_recordset(%(found)s::jsonb) AS e (
        tenant_id text, id text, key text, kind text, about text, operation text, change_id text,
        feedback_id text, candidate_id text, at timestamptz, refused text)
    ON CONFLICT DO NOTHING
)
SELECT one FROM moved

-- name: changes
SELECT c.id, c.tenant_id, c.agent_id, c.kind, c.operation, c.target_name, c.status, c.origin,
       c.feedback_id, c.candidate_id, c.reason, c.decision, c.relationship,
       coalesce(c.decided_by, '') AS decided_by, c.edited_by IS NOT NULL AS is_edited,
       coalesce('user' IN (c.before #>> '{reach,scope}', c.after #>> '{reach,scope}',
                           c.proposed #>> '{reach,scope}'), false) AS is_personal,
       c.reverts IS NOT NULL OR c.retracts <> '[]' AS undoes, c.reverts IS NOT NULL AS names_one,
       left(c.before ->> 'content', %(chars)s) AS before,
       left(c.after ->> 'content', %(chars)s) AS after,
       left(c.proposed ->> 'content', %(chars)s) AS proposed,
       coalesce(c.decided_at, c.applied_at, c.created_at) AS at,
       (SELECT max(o.applied_at) FROM changes o
        WHERE o.target_id = c.target_id AND o.kind = c.kind AND o.tenant_id = c.tenant_id
          AND o.status = 'applied' AND o.applied_at < c.applied_at
          AND o.feedback_id <> c.feedback_id) AS learnt_at
FROM changes c WHERE c.id = ANY(%(ids)s) ORDER BY c.id

-- name: recovered
SELECT DISTINCT ON (e.candidate_id) e.candidate_id, e.feedback_id, e.tenant_id, c.agent_id,
       left(c.content, %(chars)s) AS content, e.at, f.id AS failed_id,
       coalesce(f.data ->> 'error', '') AS error,
       ARRAY(SELECT DISTINCT concat_ws(' ', r ->> 'operation', r ->> 'kind')
             FROM jsonb_array_elements(c.verdict -> 'receipts') AS r
             WHERE r ->> 'status' IN ('applied', 'held') AND r ->> 'kind' IS NOT NULL
             ORDER BY 1) AS made
FROM run_events e
JOIN candidates c ON c.id = e.candidate_id
JOIN LATERAL (
    SELECT p.id, p.data FROM run_events p
    WHERE p.feedback_id = e.feedback_id AND p.candidate_id = e.candidate_id
      AND p.name = 'run.finished' AND (p.txid, p.id) < (e.txid, e.id)
    ORDER BY p.txid DESC, p.id DESC LIMIT 1
) f ON f.data ->> 'status' = 'failed'
WHERE e.feedback_id = ANY(%(feedback_ids)s) AND e.candidate_id = ANY(%(ids)s)
  AND e.name = 'run.finished' AND e.data ->> 'status' IN ('completed', 'held')
ORDER BY e.candidate_id, e.txid DESC, e.id DESC

-- name: shown
SELECT DISTINCT e.candidate_id, e.tenant_id, i ->> 'id' AS item_id,
       (i ->> 'version')::integer AS version
FROM run_events e CROSS JOIN jsonb_array_elements(e.data -> 'lessons') AS i
WHERE e.feedback_id = ANY(%(feedback_ids)s) AND e.candidate_id = ANY(%(ids)s)
  AND e.name = 'lessons.shown'
ORDER BY 1, 2, 3

-- name: evidence
SELECT * FROM lesson_evidence
WHERE tenant_id = %(tenant_id)s AND key = %(key)s AND refused IS NULL
ORDER BY at DESC, id LIMIT %(limit)s

-- name: keys
SELECT * FROM (
    SELECT DISTINCT ON (key) * FROM lesson_evidence
    WHERE tenant_id = %(tenant_id)s AND kind = %(kind)s AND about = %(about)s AND refused IS NULL
    ORDER BY key, at, id) first
ORDER BY at DESC, id LIMIT %(limit)s

-- name: states
SELECT e.tenant_id, e.key, e.kind, e.about, e.operation, e.pieces, e.latest,
       coalesce(p.proposals, 0) AS proposals, coalesce(p.setbacks, 0) AS setbacks,
       l.change_id, l.item_id, l.status, l.at AS proposed_at, l.refused,
       CASE WHEN l.status IN ('rejected', 'failed', 'reverted') THEN coalesce(l.undone_at, l.decided_at, l.at)
            END AS ended_at
FROM (
    SELECT tenant_id, key, min(kind) AS kind, min(about) AS about, min(operation) AS operation,
           count(*) AS pieces, max(at) AS latest
    FROM lesson_evidence
    WHERE refused IS NULL AND (%(tenant_id)s::text IS NULL OR tenant_id = %(tenant_id)s)
    GROUP BY tenant_id, key
) e
LEFT JOIN LATERAL (
    SELECT count(*) AS proposals,
           count(*) FILTER (WHERE c.status IN ('rejected', 'reverted')) AS setbacks
    FROM lesson_proposals p LEFT JOIN changes c ON c.id = p.change_id
    WHERE p.tenant_id = e.tenant_id AND p.key = e.key
) p ON true
LEFT JOIN LATERAL (
    SELECT p.change_id, p.item_id, p.refused, p.at, c.status, c.decided_at,
           (SELECT max(u.applied_at) FROM changes u
            WHERE u.target_id = c.target_id AND u.kind = c.kind AND u.tenant_id = c.tenant_id
              AND u.id <> c.id) AS undone_at
    FROM lesson_proposals p LEFT JOIN changes c ON c.id = p.change_id
    WHERE p.tenant_id = e.tenant_id AND p.key = e.key ORDER BY p.ordinal DESC LIMIT 1
) l ON true
ORDER BY e.tenant_id, e.key

-- name: proposed
INSERT INTO lesson_proposals (tenant_id, key, ordinal, change_id, item_id, refused)
VALUES (%(tenant_id)s, %(key)s, %(ordinal)s, %(change_id)s, %(item_id)s, %(refused)s)
ON CONFLICT DO NOTHING

-- name: standing
SELECT DISTINCT v.item_id FROM lesson_proposals p
JOIN knowledge_versions v ON v.tenant_id = p.tenant_id AND v.kind = 'MEMORY'
    AND v.item_id = p.item_id AND v.valid_to IS NULL AND v.agent_id = %(agent_id)s
WHERE p.tenant_id = %(tenant_id)s ORDER BY v.item_id

-- name: note_recurring
-- Evidence for a lesson that stands counts like a complaint about what another item says: from before
-- it was learnt, or after, before a run was shown it or although one was.
INSERT INTO complaints (tenant_id, agent_id, kind, item_id, feedback_id, said_at, came)
SELECT DISTINCT ON (l.tenant_id, l.item_id, e.feedback_id)
       l.tenant_id, %(agent_id)s, 'MEMORY', l.item_id, e.feedback_id, e.at,
       CASE WHEN e.at < l.learnt_at THEN 'before' WHEN e.at > l.reached_at THEN 'back' ELSE 'unreached' END
FROM (SELECT DISTINCT p.tenant_id, p.key, v.item_id,
             (SELECT min(o.valid_from) FROM knowledge_versions o WHERE o.tenant_id = v.tenant_id
              AND o.kind = v.kind AND o.item_id = v.item_id) AS learnt_at,
             (SELECT min(u.first_at) FROM uses u WHERE u.tenant_id = v.tenant_id AND u.kind = v.kind
              AND u.item_id = v.item_id AND u.agent_id = v.agent_id) AS reached_at
      FROM lesson_proposals p
      JOIN knowledge_versions v ON v.tenant_id = p.tenant_id AND v.kind = 'MEMORY'
          AND v.item_id = p.item_id AND v.valid_to IS NULL AND v.agent_id = %(agent_id)s) l
JOIN lesson_evidence e ON e.tenant_id = l.tenant_id AND e.key = l.key
WHERE e.refused IS NULL AND e.feedback_id IS NOT NULL
ORDER BY l.tenant_id, l.item_id, e.feedback_id, e.at
ON CONFLICT DO NOTHING
