-- name: opened
-- One round trip: the change, its cause, its cost, and its position in the queue. Those in `but`
-- are skipped; after the last one the queue wraps around. The condition on the tenant replaces the
-- comments: as one that may be NULL, each call was planned anew, which took longer than the query.
SELECT c.*,
    (SELECT m.said FROM change_messages m WHERE m.change_id = c.id) AS said,
    (SELECT jsonb_build_object('id', f.id, 'content', f.content, 'author', f.author,
        'task', f.task, 'source', f.source, 'status', f.status, 'created_at', f.created_at)
     FROM feedback f WHERE f.id = c.feedback_id) AS cause,
    (SELECT to_jsonb(d) - 'verdict' FROM candidates d WHERE d.id = c.candidate_id) AS matched,
    (SELECT k.cost FROM change_costs k WHERE k.id = c.id) AS cost,
    CASE WHEN c.status = 'reverted' THEN (
        SELECT o.id FROM changes o
        WHERE o.target_id = c.target_id AND o.kind = c.kind AND o.tenant_id = c.tenant_id
          AND o.status = 'applied' AND (o.reverts = c.id OR o.retracts ? c.id)
        ORDER BY o.created_at DESC LIMIT 1
    ) END AS undone_by,
    jsonb_build_object('waiting', w.waiting, 'position', w.position, 'previous', (
        SELECT o.id FROM changes o
        WHERE o.status IN ('held', 'stale') AND o.held <> '[]'
          /* asked for */
          AND (o.created_at, o.id) < (c.created_at, c.id)
        ORDER BY o.created_at DESC, o.id DESC LIMIT 1
    )) AS queue_position,
    ARRAY(SELECT o.id FROM changes o
        WHERE o.status IN ('held', 'stale') AND o.held <> '[]'
          /* asked for */
          AND (o.created_at, o.id) > (c.created_at, c.id)
          AND o.id NOT IN (SELECT unnest(string_to_array(%(but)s, E'\n')))
        ORDER BY o.created_at, o.id LIMIT %(ahead)s) AS later,
    ARRAY(SELECT o.id FROM changes o
        WHERE o.status IN ('held', 'stale') AND o.held <> '[]'
          /* asked for */
          AND (o.created_at, o.id) < (c.created_at, c.id)
          AND o.id NOT IN (SELECT unnest(string_to_array(%(but)s, E'\n')))
        ORDER BY o.created_at, o.id LIMIT %(ahead)s) AS earlier
FROM changes c
CROSS JOIN LATERAL (
    SELECT count(*) AS waiting,
           CASE WHEN bool_or(o.id = c.id)
                THEN count(*) FILTER (WHERE (o.created_at, o.id) <= (c.created_at, c.id))
           END AS position
    FROM changes o
    WHERE o.status IN ('held', 'stale') AND o.held <> '[]'
      /* asked for */
) w
WHERE c.id = %(id)s

-- name: oldest
SELECT o.id FROM changes o
WHERE o.status IN ('held', 'stale') AND o.held <> '[]'
  /* asked for */
  AND o.id NOT IN (SELECT unnest(string_to_array(%(but)s, E'\n')))
ORDER BY o.created_at, o.id LIMIT %(ahead)s

-- name: of_tenant
AND o.tenant_id = %(tenant_id)s
