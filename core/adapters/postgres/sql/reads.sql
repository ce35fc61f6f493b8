-- The wanted conditions replace the comments, so that each combination has its own plan.

-- name: feedback
SELECT * FROM feedback
WHERE (created_at, id) < (%(at)s::timestamptz, %(id)s) /* asked for */
ORDER BY created_at DESC, id DESC LIMIT %(limit)s

-- Filters without an index scan `reach` rows; `reach_at` and `reach_id` are the last one's.
-- name: feedback_looked_through
WITH seen AS MATERIALIZED (
    SELECT created_at, id, true /* looked for */ AS fits FROM feedback
    WHERE (created_at, id) < (%(at)s::timestamptz, %(id)s) /* asked for */
    ORDER BY created_at DESC, id DESC LIMIT %(reach)s
), last AS (
    SELECT created_at AS reach_at, id AS reach_id, (SELECT count(*) FROM seen) AS looked_through
    FROM seen ORDER BY created_at, id LIMIT 1
)
SELECT feedback.*, last.* FROM last
LEFT JOIN (
    SELECT id FROM seen WHERE fits ORDER BY created_at DESC, id DESC LIMIT %(limit)s
) found ON true
LEFT JOIN feedback ON feedback.id = found.id
ORDER BY feedback.created_at DESC, feedback.id DESC

-- name: changes
SELECT * FROM changes
WHERE (created_at, id) < (%(at)s::timestamptz, %(id)s) /* asked for */
ORDER BY created_at DESC, id DESC LIMIT %(limit)s

-- name: history
SELECT id, knowledge_type, knowledge_id, knowledge_name, agent_id, tenant_id, operation,
       previous_content, new_content, previous_files, new_files, previous_reach, new_reach,
       feedback_content, feedback_id, change_id, attempt, status, error, said_at, created_at
FROM history
WHERE (created_at, id) < (%(at)s::timestamptz, %(id)s) /* asked for */
ORDER BY created_at DESC, id DESC LIMIT %(limit)s

-- name: of_statuses
AND status = ANY(%(statuses)s)

-- name: of_tenant
AND tenant_id = %(tenant_id)s

-- name: of_agent
AND agent_id = %(agent_id)s

-- name: of_agents
AND %(agent_id)s = ANY(agent_ids)

-- name: of_kind
AND kind = %(kind)s

-- name: of_feedback
AND feedback_id = %(feedback_id)s

-- name: of_target
AND target_id = %(target_id)s

-- name: of_item_kind
AND knowledge_type = %(kind)s

-- name: of_item
AND knowledge_id = %(item_id)s

-- name: since
AND created_at >= %(since)s

-- name: until
AND created_at < %(until)s

-- name: holding
AND (strpos(lower(content), lower(%(text)s)) > 0 OR strpos(id, %(text)s) > 0)

-- name: history_record
SELECT id, knowledge_type, knowledge_id, knowledge_name, agent_id, tenant_id, operation,
       previous_content, new_content, previous_files, new_files, previous_reach, new_reach,
       feedback_content, feedback_id, change_id, attempt, status, error, said_at, created_at
FROM history WHERE id = %(id)s

-- name: events
SELECT id, at, name, tenant_id, feedback_id, candidate_id, change_id, data, state
FROM run_events WHERE feedback_id = %(feedback_id)s ORDER BY txid, id

-- name: counts
SELECT status, count(*) AS pieces FROM feedback GROUP BY status
