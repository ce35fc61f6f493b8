-- name: note
INSERT INTO echoes (feedback_id, tenant_id, kind, target_id, hash)
VALUES (%(feedback_id)s, %(tenant_id)s, %(kind)s, %(target_id)s, %(hash)s)
ON CONFLICT DO NOTHING

-- name: at
SELECT feedback_id, kind, target_id, hash, at FROM echoes
WHERE tenant_id = %(tenant_id)s AND kind = %(kind)s AND target_id = %(target_id)s
ORDER BY at

-- name: of_feedback
SELECT feedback_id, kind, target_id, hash, at FROM echoes
WHERE feedback_id = %(feedback_id)s ORDER BY at

-- name: forget
DELETE FROM echoes WHERE feedback_id = %(feedback_id)s
