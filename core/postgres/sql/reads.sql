-- name: feedback
SELECT * FROM feedback
WHERE (created_at, id) < (%(at)s::timestamptz, %(id)s)
  AND (%(status)s::text IS NULL OR status = %(status)s)
  AND (%(tenant_id)s::text IS NULL OR tenant_id = %(tenant_id)s)
ORDER BY created_at DESC, id DESC LIMIT %(limit)s

-- name: changes
SELECT * FROM changes
WHERE (created_at, id) < (%(at)s::timestamptz, %(id)s)
  AND (%(status)s::text IS NULL OR status = %(status)s)
ORDER BY created_at DESC, id DESC LIMIT %(limit)s

-- name: history
SELECT id, knowledge_type, knowledge_id, knowledge_name, agent_id, tenant_id, operation,
       previous_content, new_content, previous_files, new_files, feedback_content, feedback_id,
       change_id, attempt, status, error, created_at
FROM history
WHERE (created_at, id) < (%(at)s::timestamptz, %(id)s)
  AND (%(feedback_id)s::text IS NULL OR feedback_id = %(feedback_id)s)
ORDER BY created_at DESC, id DESC LIMIT %(limit)s

-- name: history_record
SELECT id, knowledge_type, knowledge_id, knowledge_name, agent_id, tenant_id, operation,
       previous_content, new_content, previous_files, new_files, feedback_content, feedback_id,
       change_id, attempt, status, error, created_at
FROM history WHERE id = %(id)s

-- name: events
SELECT * FROM run_events WHERE feedback_id = %(feedback_id)s ORDER BY id

-- name: counts
SELECT status, count(*) AS pieces FROM feedback GROUP BY status
