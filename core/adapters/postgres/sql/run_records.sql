-- name: columns
-- Of a candidate `c` of feedback `f` in a generation `g`, which may be a fork `k`.
       c.id || ':' || g.generation AS id, c.feedback_id, c.id AS candidate_id, g.generation,
       f.tenant_id, c.agent_id, c.agent_name, c.content,
       CASE WHEN g.generation = c.generation THEN c.verdict ->> 'status' END AS status,
       CASE WHEN g.generation = c.generation THEN coalesce(c.verdict ->> 'reason', '') ELSE '' END
           AS reason, f.pruned, f.created_at,
       ARRAY(SELECT t.tag FROM run_tags t WHERE t.run = c.id || ':' || g.generation
             ORDER BY t.tag) AS tags,
       k.from_run AS forked_from, k.step AS from_step

-- name: page
-- The last run of each candidate; with a tag, all runs that have it: an earlier one stays tagged
-- after a retry or a fork.
SELECT /* columns */
FROM feedback f
JOIN candidates c ON c.feedback_id = f.id
CROSS JOIN LATERAL (
    SELECT c.generation WHERE %(tag)s::text IS NULL
    UNION ALL
    SELECT substring(t.run FROM length(c.id) + 2)::integer FROM run_tags t
    WHERE t.feedback_id = f.id AND t.tag = %(tag)s AND starts_with(t.run, c.id || ':')
) g (generation)
LEFT JOIN run_forks k ON k.run = c.id || ':' || g.generation
WHERE (f.created_at, c.id || ':' || g.generation) < (%(at)s::timestamptz, %(id)s) AND c.epoch > 0
  AND (%(tenant_id)s::text IS NULL OR f.tenant_id = %(tenant_id)s)
  AND (%(agent_id)s::text IS NULL OR c.agent_id = %(agent_id)s)
  AND (%(feedback_id)s::text IS NULL OR f.id = %(feedback_id)s)
ORDER BY f.created_at DESC, c.id || ':' || g.generation DESC LIMIT %(limit)s

-- name: of
-- By the id of a run, of its candidate, or of its feedback.
SELECT /* columns */
FROM candidates c
JOIN feedback f ON f.id = c.feedback_id
CROSS JOIN LATERAL (SELECT coalesce(%(generation)s::integer, c.generation) AS generation) g
LEFT JOIN run_forks k ON k.run = c.id || ':' || g.generation
WHERE (c.id = %(id)s OR (%(generation)s::integer IS NULL AND f.id = %(id)s))
  AND g.generation BETWEEN 1 AND c.generation AND c.epoch > 0
ORDER BY c.position

-- name: tag
-- Nothing where its transcript is gone; the row is locked, so that none goes meanwhile.
WITH stored AS (
    SELECT id, tenant_id FROM feedback WHERE id = %(feedback_id)s AND NOT pruned FOR UPDATE
), tagged AS (
    INSERT INTO run_tags (tenant_id, feedback_id, run, tag, tagged_by)
    SELECT s.tenant_id, s.id, %(run)s, tag, %(by)s FROM stored s, unnest(%(tags)s::text[]) AS tag
    ON CONFLICT DO NOTHING
)
SELECT count(*) AS stored FROM stored

-- name: untag
DELETE FROM run_tags WHERE run = %(run)s AND tag = ANY(%(tags)s)

-- name: add_fork
INSERT INTO run_forks (tenant_id, feedback_id, run, from_run, step, forked_by)
VALUES (%(tenant_id)s, %(feedback_id)s, %(run)s, %(from_run)s, %(step)s, %(by)s)

-- name: fork
SELECT run, from_run, step, forked_by AS by FROM run_forks WHERE run = %(run)s
