-- name: of_feedback
SELECT * FROM changes
WHERE feedback_id = %(feedback_id)s AND retracts = '[]' AND reverts IS NULL
  AND (status = 'applied' OR status IN ('held', 'stale') AND held <> '[]')
ORDER BY created_at, id

-- name: chain
-- Changes of one target were recorded one after another.
SELECT c.* FROM history h JOIN changes c ON c.id = h.change_id
WHERE h.tenant_id = %(tenant_id)s AND h.knowledge_type = %(kind)s
  AND h.knowledge_id = %(target_id)s AND h.status IN ('applied', 'reverted')
ORDER BY h.seq
