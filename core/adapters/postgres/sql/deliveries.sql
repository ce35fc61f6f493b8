-- name: known
SELECT source_id, status FROM feedback
WHERE source = %(source)s AND source_id = ANY(%(source_ids)s)

-- name: unacknowledged
SELECT * FROM feedback
WHERE source = %(source)s AND NOT acknowledged AND status NOT IN ('queued', 'processing')
ORDER BY finished_at, id
LIMIT %(limit)s

-- name: acknowledged
UPDATE feedback SET acknowledged = true
WHERE id = %(id)s AND generation = %(generation)s AND epoch = %(epoch)s AND status = %(status)s
