-- name: candidates
SELECT * FROM candidates WHERE feedback_id = %(feedback_id)s ORDER BY position

-- name: save
-- What is stored stays: a second answer of the matcher is not mixed in. The first is started at
-- once.
INSERT INTO candidates (
    id, feedback_id, tenant_id, agent_id, agent_name, position, content, intent_hint, generation,
    epoch)
SELECT id, %(feedback_id)s, %(tenant_id)s, agent_id, agent_name, position, content, intent_hint,
       %(generation)s, CASE position WHEN 0 THEN 1 ELSE 0 END
FROM jsonb_to_recordset(%(parts)s) AS part (
    id text, agent_id text, agent_name text, position integer, content text,
    intent_hint text)
WHERE NOT EXISTS (SELECT FROM candidates WHERE feedback_id = %(feedback_id)s)
ORDER BY position
ON CONFLICT (feedback_id, position) DO NOTHING
RETURNING *

-- name: start
UPDATE candidates SET epoch = epoch + 1, generation = %(generation)s, verdict = NULL
WHERE id = %(id)s
RETURNING *

-- name: finish
UPDATE candidates SET verdict = %(verdict)s, said = %(said)s WHERE id = %(id)s AND epoch = %(epoch)s

-- name: check
SELECT FROM candidates WHERE id = %(id)s AND epoch = %(epoch)s

-- name: receipts
SELECT * FROM changes
WHERE candidate_id = %(candidate_id)s AND status IN ('applied', 'held')
ORDER BY created_at, id
