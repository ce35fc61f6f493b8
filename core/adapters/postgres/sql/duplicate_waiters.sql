-- name: note
INSERT INTO echoes (feedback_id, tenant_id, kind, target_id, hash, units, change_id)
VALUES (%(feedback_id)s, %(tenant_id)s, %(kind)s, %(target_id)s, %(hash)s, %(units)s,
        %(change_id)s)
ON CONFLICT DO NOTHING

-- name: alike
-- Locked, so that a decision about it waits until the duplicate is recorded, or has been made:
-- then it is no longer held.
SELECT * FROM changes
WHERE status = 'held' AND held <> '[]' AND reverts IS NULL AND retracts = '[]'
  AND tenant_id = %(tenant_id)s AND kind = %(kind)s AND agent_id = %(agent_id)s
  AND operation = %(operation)s AND base_hash = %(base_hash)s
  AND (operation = 'CREATE' OR target_id = %(target_id)s)
  AND after IS NOT DISTINCT FROM %(after)s::jsonb
ORDER BY created_at, id LIMIT 1 FOR SHARE

-- name: join
INSERT INTO echoes (feedback_id, tenant_id, kind, target_id, hash, change_id, units)
VALUES (%(feedback_id)s, %(tenant_id)s, %(kind)s, %(target_id)s, %(hash)s, %(change_id)s,
        %(units)s)
ON CONFLICT (tenant_id, kind, target_id, feedback_id, hash)
DO UPDATE SET change_id = excluded.change_id

-- name: of_change
SELECT feedback_id FROM echoes WHERE change_id = %(change_id)s

-- name: at
SELECT feedback_id, kind, target_id, hash, change_id, at FROM echoes
WHERE tenant_id = %(tenant_id)s AND kind = %(kind)s AND target_id = %(target_id)s
ORDER BY at

-- name: of_feedback
SELECT feedback_id, kind, target_id, hash, change_id, at FROM echoes
WHERE feedback_id = %(feedback_id)s ORDER BY at

-- name: forget
DELETE FROM echoes WHERE feedback_id = %(feedback_id)s
