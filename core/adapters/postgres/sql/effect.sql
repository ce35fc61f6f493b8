-- name: known
-- What each agent has now; what a tenant shares also of agents that it reached.
SELECT v.tenant_id, v.agent_id, v.kind, v.item_id, v.name, v.version
FROM knowledge_versions v
WHERE v.valid_to IS NULL AND (v.valid_until IS NULL OR v.valid_until > clock_timestamp())
  AND (%(tenant_id)s::text IS NULL OR v.tenant_id = %(tenant_id)s)
  AND (%(agent_id)s::text IS NULL OR v.agent_id = %(agent_id)s)
UNION ALL
SELECT s.tenant_id, s.agent_id, 'SKILL', s.name, s.name, 0 FROM agent_skills s
WHERE (%(tenant_id)s::text IS NULL OR s.tenant_id = %(tenant_id)s)
  AND (%(agent_id)s::text IS NULL OR s.agent_id = %(agent_id)s)
UNION ALL
SELECT DISTINCT u.tenant_id, u.agent_id, u.kind, u.item_id, v.name, v.version
FROM knowledge_versions v
JOIN uses u ON u.tenant_id = v.tenant_id AND u.kind = v.kind AND u.item_id = v.item_id
WHERE v.valid_to IS NULL AND v.scope = 'tenant' AND u.agent_id <> v.agent_id
  AND (%(tenant_id)s::text IS NULL OR u.tenant_id = %(tenant_id)s)
  AND (%(agent_id)s::text IS NULL OR u.agent_id = %(agent_id)s)

-- name: reached
EXISTS (SELECT FROM uses u WHERE u.tenant_id = k.tenant_id AND u.kind = k.kind
        AND u.item_id = k.item_id AND u.agent_id = k.agent_id)

-- name: back
EXISTS (SELECT FROM complaints c WHERE c.tenant_id = k.tenant_id AND c.kind = k.kind
        AND c.item_id = k.item_id AND c.agent_id = k.agent_id AND c.came = 'back')

-- name: judged
(SELECT count(*) FROM outcome_items i JOIN outcomes o ON o.id = i.outcome_id
 WHERE i.tenant_id = k.tenant_id AND i.item_id = k.item_id AND o.agent_id = k.agent_id) >= 5
OR (SELECT count(*) FROM holdout_arms a WHERE a.tenant_id = k.tenant_id AND a.item_id = k.item_id
    AND a.agent_id = k.agent_id AND a.outcome_id IS NOT NULL) >= 10

-- name: page
-- Figures of one page of items. Tasks without an item are those since it first reached the agent.
WITH known AS (/* known */), page AS (
    SELECT k.* FROM known k
    WHERE (k.tenant_id, k.agent_id, k.kind, k.item_id)
          > (%(tenant)s, %(agent)s, %(kind)s, %(item)s) AND true /* only */
    ORDER BY k.tenant_id, k.agent_id, k.kind, k.item_id LIMIT %(limit)s
)
SELECT k.*, w.learnt_at, u.*, o.*, r.*, a.*, q.*, c.*
FROM page k
CROSS JOIN LATERAL (
    SELECT CASE k.kind
        WHEN 'SKILL' THEN (SELECT s.added_at FROM agent_skills s WHERE s.tenant_id = k.tenant_id
                           AND s.agent_id = k.agent_id AND s.name = k.item_id)
        ELSE (SELECT min(v.valid_from) FROM knowledge_versions v
              WHERE v.tenant_id = k.tenant_id AND v.kind = k.kind AND v.item_id = k.item_id)
        END AS learnt_at
) w
CROSS JOIN LATERAL (
    SELECT coalesce(sum(times) FILTER (WHERE way IN ('recalled', 'shown')), 0)::bigint AS shown,
           coalesce(sum(times) FILTER (WHERE way IN ('decided', 'loaded')), 0)::bigint AS opened,
           min(first_at) AS first_at, max(last_at) AS last_at
    FROM uses u WHERE u.tenant_id = k.tenant_id AND u.kind = k.kind AND u.item_id = k.item_id
      AND u.agent_id = k.agent_id
) u
CROSS JOIN LATERAL (
    SELECT count(*) FILTER (WHERE o.success) AS success,
           count(*) FILTER (WHERE NOT o.success) AS failure
    FROM outcome_items i JOIN outcomes o ON o.id = i.outcome_id
    WHERE i.tenant_id = k.tenant_id AND i.item_id = k.item_id AND o.agent_id = k.agent_id
) o
CROSS JOIN LATERAL (
    SELECT count(*) FILTER (WHERE o.success) AS without_success,
           count(*) FILTER (WHERE NOT o.success) AS without_failure
    FROM outcomes o
    WHERE o.tenant_id = k.tenant_id AND o.agent_id = k.agent_id AND o.at >= u.first_at
      AND NOT EXISTS (SELECT FROM outcome_items i
                      WHERE i.outcome_id = o.id AND i.item_id = k.item_id)
) r
CROSS JOIN LATERAL (
    SELECT count(*) FILTER (WHERE NOT a.left_out AND o.success) AS given_success,
           count(*) FILTER (WHERE NOT a.left_out AND NOT o.success) AS given_failure,
           count(*) FILTER (WHERE a.left_out AND o.success) AS left_success,
           count(*) FILTER (WHERE a.left_out AND NOT o.success) AS left_failure
    FROM holdout_arms a JOIN outcomes o ON o.id = a.outcome_id
    WHERE a.tenant_id = k.tenant_id AND a.item_id = k.item_id AND a.agent_id = k.agent_id
) a
CROSS JOIN LATERAL (
    SELECT count(*) AS contradicted FROM changes c
    WHERE c.tenant_id = k.tenant_id AND c.kind = k.kind AND c.target_id = k.item_id
      AND c.status = 'applied' AND c.relationship IN ('CONFLICTS', 'SUPERSEDES')
) q
CROSS JOIN LATERAL (
    SELECT count(*) FILTER (WHERE c.came = 'before') AS before,
           count(*) FILTER (WHERE c.came = 'unreached') AS unreached,
           count(*) FILTER (WHERE c.came = 'back') AS back
    FROM complaints c WHERE c.tenant_id = k.tenant_id AND c.kind = k.kind
      AND c.item_id = k.item_id AND c.agent_id = k.agent_id
) c
ORDER BY k.tenant_id, k.agent_id, k.kind, k.item_id

-- name: counts
WITH known AS (/* known */), reached AS (
    SELECT DISTINCT tenant_id, kind, item_id, agent_id FROM uses
    WHERE (%(tenant_id)s::text IS NULL OR tenant_id = %(tenant_id)s)
), back AS (
    SELECT DISTINCT tenant_id, kind, item_id, agent_id FROM complaints
    WHERE came = 'back' AND (%(tenant_id)s::text IS NULL OR tenant_id = %(tenant_id)s)
)
SELECT count(*) AS known, count(*) FILTER (WHERE r.item_id IS NULL) AS unreached,
       count(b.item_id) AS back,
       (SELECT count(*) FROM proposals p WHERE p.status = 'waiting'
        AND (%(tenant_id)s::text IS NULL OR p.tenant_id = %(tenant_id)s)
        AND (%(agent_id)s::text IS NULL OR p.agent_id = %(agent_id)s)) AS proposals
FROM known k
LEFT JOIN reached r USING (tenant_id, kind, item_id, agent_id)
LEFT JOIN back b USING (tenant_id, kind, item_id, agent_id)

-- name: days
SELECT d.day::date AS day,
       coalesce(u.shown, 0)::bigint AS shown, coalesce(u.opened, 0)::bigint AS opened,
       coalesce(o.success, 0) AS success, coalesce(o.failure, 0) AS failure,
       coalesce(c.back, 0) AS back
FROM generate_series(%(until)s::date - (%(days)s::integer - 1), %(until)s::date, interval '1 day')
     AS d (day)
LEFT JOIN (
    SELECT day, sum(times) FILTER (WHERE way IN ('recalled', 'shown')) AS shown,
           sum(times) FILTER (WHERE way IN ('decided', 'loaded')) AS opened
    FROM uses
    WHERE day > %(until)s::date - %(days)s::integer
      AND (%(tenant_id)s::text IS NULL OR tenant_id = %(tenant_id)s)
      AND (%(agent_id)s::text IS NULL OR agent_id = %(agent_id)s)
    GROUP BY day) u ON u.day = d.day::date
LEFT JOIN (
    SELECT (at AT TIME ZONE 'UTC')::date AS day, count(*) FILTER (WHERE success) AS success,
           count(*) FILTER (WHERE NOT success) AS failure
    FROM outcomes
    WHERE at >= (%(until)s::date - (%(days)s::integer - 1))::timestamp AT TIME ZONE 'UTC'
      AND (%(tenant_id)s::text IS NULL OR tenant_id = %(tenant_id)s)
      AND (%(agent_id)s::text IS NULL OR agent_id = %(agent_id)s)
    GROUP BY 1) o ON o.day = d.day::date
LEFT JOIN (
    SELECT (said_at AT TIME ZONE 'UTC')::date AS day, count(DISTINCT feedback_id) AS back
    FROM complaints
    WHERE came = 'back'
      AND said_at >= (%(until)s::date - (%(days)s::integer - 1))::timestamp AT TIME ZONE 'UTC'
      AND (%(tenant_id)s::text IS NULL OR tenant_id = %(tenant_id)s)
      AND (%(agent_id)s::text IS NULL OR agent_id = %(agent_id)s)
    GROUP BY 1) c ON c.day = d.day::date
ORDER BY d.day

-- name: proposals
-- With the name of the item, as far as it stands, and the figures that speak for it.
SELECT p.*, coalesce(
           (SELECT v.name FROM knowledge_versions v WHERE v.tenant_id = p.tenant_id
            AND v.kind = p.kind AND v.item_id = p.item_id ORDER BY v.version DESC LIMIT 1),
           p.item_id) AS name,
       (SELECT count(*) FROM complaints c WHERE c.tenant_id = p.tenant_id AND c.kind = p.kind
        AND c.item_id = p.item_id AND c.agent_id = p.agent_id AND c.came = 'back') AS back,
       (SELECT c.feedback_id FROM complaints c WHERE c.tenant_id = p.tenant_id AND c.kind = p.kind
        AND c.item_id = p.item_id AND c.agent_id = p.agent_id AND c.came = 'back'
        ORDER BY c.said_at DESC LIMIT 1) AS last_id,
       (SELECT max(u.last_at) FROM uses u WHERE u.tenant_id = p.tenant_id AND u.kind = p.kind
        AND u.item_id = p.item_id) AS unused_since
FROM proposals p
WHERE (%(id)s::text IS NULL OR p.id = %(id)s)
  AND (%(status)s::text IS NULL OR p.status = %(status)s)
  AND (%(tenant_id)s::text IS NULL OR p.tenant_id = %(tenant_id)s)
  AND (%(agent_id)s::text IS NULL OR p.agent_id = %(agent_id)s)
ORDER BY p.created_at, p.id LIMIT %(limit)s

-- name: decide
UPDATE proposals SET status = %(status)s, decided_at = %(decided_at)s, decided_by = %(decided_by)s,
    change_id = %(change_id)s, feedback_id = %(feedback_id)s
WHERE id = %(id)s AND status = 'waiting'

-- name: ended
-- Half a minute late: an end is seen with its commit, which no statement delays longer.
SELECT f.id, f.tenant_id, f.agent_ids, f.content, f.said_at, f.finished_at FROM feedback f
WHERE f.finished_at > coalesce((SELECT at FROM sweeps WHERE name = 'complaints'),
                               %(now)s::timestamptz - interval '7 days')
  AND f.finished_at <= %(now)s::timestamptz - interval '30 seconds'
  AND f.status IN ('completed', 'no_action', 'held')
ORDER BY f.finished_at FETCH FIRST %(limit)s ROWS WITH TIES

-- name: looked
WITH found AS (
    INSERT INTO complaints (tenant_id, agent_id, kind, item_id, feedback_id, said_at, came)
    SELECT * FROM jsonb_to_recordset(%(found)s) AS c (
        tenant_id text, agent_id text, kind text, item_id text, feedback_id text,
        said_at timestamptz, came text)
    ON CONFLICT DO NOTHING
)
INSERT INTO sweeps AS sweep (name, at) VALUES ('complaints', %(until)s)
ON CONFLICT (name) DO UPDATE SET at = greatest(sweep.at, excluded.at)

-- name: lessons
-- By feedback whose words are still there.
SELECT h.knowledge_type AS kind, h.knowledge_id AS item_id, h.feedback_id,
       h.feedback_content AS words, h.created_at AS learnt_at,
       (SELECT min(u.first_at) FROM uses u WHERE u.tenant_id = h.tenant_id
        AND u.kind = h.knowledge_type AND u.item_id = h.knowledge_id
        AND u.agent_id = %(agent_id)s) AS reached_at
FROM unnest(%(kinds)s::text[], %(ids)s::text[]) AS wanted (kind, id)
JOIN history h ON h.tenant_id = %(tenant_id)s AND h.knowledge_type = wanted.kind
  AND h.knowledge_id = wanted.id
WHERE h.status = 'applied' AND h.feedback_id IS NOT NULL AND h.operation <> 'DELETE'
  AND h.feedback_content NOT IN ('', '[erased]')
ORDER BY h.seq

-- name: taught_by
SELECT h.knowledge_type AS kind, h.knowledge_id AS item_id, h.feedback_id,
       h.feedback_content AS words, h.created_at AS learnt_at
FROM history h
WHERE h.feedback_id = %(feedback_id)s AND h.agent_id = %(agent_id)s AND h.status = 'applied' AND h.operation = 'CREATE'
  AND h.knowledge_type <> 'AGENT_SKILLS' AND h.feedback_content NOT IN ('', '[erased]')
ORDER BY h.seq

-- name: earlier
SELECT f.id, f.tenant_id, f.agent_ids, f.content, f.said_at, f.finished_at FROM feedback f
WHERE f.tenant_id = %(tenant_id)s AND %(agent_id)s = ANY(f.agent_ids) AND f.id <> %(id)s
  AND f.created_at < %(said_at)s::timestamptz + interval '5 minutes' AND f.said_at < %(said_at)s
  AND f.created_at >= %(said_at)s::timestamptz - make_interval(secs => %(seconds)s)
  AND f.finished_at IS NOT NULL AND f.content <> '[erased]'
ORDER BY f.created_at DESC LIMIT %(limit)s

-- name: propose
-- That an item reached nobody says something only where its agent asked for others all the time.
WITH asking AS (
    SELECT tenant_id, agent_id FROM uses GROUP BY tenant_id, agent_id
    HAVING min(first_at) < %(now)s::timestamptz - make_interval(days => %(unused_days)s)
       AND max(last_at) >= %(now)s::timestamptz - make_interval(days => %(unused_days)s)
       AND coalesce(max(last_at) FILTER (WHERE item_id = ''), '-infinity')
           < %(now)s::timestamptz - make_interval(days => %(unused_days)s)
), held AS (
    SELECT v.tenant_id, v.agent_id, v.kind, v.item_id,
           (SELECT min(o.valid_from) FROM knowledge_versions o WHERE o.tenant_id = v.tenant_id
            AND o.kind = v.kind AND o.item_id = v.item_id) AS learnt_at
    FROM knowledge_versions v
    WHERE v.valid_to IS NULL AND (v.valid_until IS NULL OR v.valid_until > %(now)s)
    UNION ALL
    SELECT tenant_id, agent_id, 'SKILL', name, added_at FROM agent_skills
), k AS (
    SELECT held.*, greatest(
        (SELECT max(p.decided_at) FROM proposals p WHERE p.tenant_id = held.tenant_id
         AND p.kind = held.kind AND p.item_id = held.item_id AND p.agent_id = held.agent_id),
        held.learnt_at) AS since
    FROM held
), due AS (
    SELECT k.*, 'rewrite' AS action FROM k
    WHERE k.agent_id <> %(worker)s  -- its lessons take up what came back themselves
      AND (SELECT count(*) FROM complaints c WHERE c.tenant_id = k.tenant_id AND c.kind = k.kind
           AND c.item_id = k.item_id AND c.agent_id = k.agent_id AND c.came = 'back'
           AND c.said_at > greatest(k.since, (
               SELECT max(h.created_at) FROM history h WHERE h.tenant_id = k.tenant_id
               AND h.knowledge_type = k.kind AND h.knowledge_id = k.item_id
               AND h.status = 'applied'))) >= %(recurring)s
    UNION ALL
    SELECT k.*, 'archive' FROM k JOIN asking USING (tenant_id, agent_id)
    WHERE k.since < %(now)s::timestamptz - make_interval(days => %(unused_days)s)
      AND NOT EXISTS (
          SELECT FROM uses u WHERE u.tenant_id = k.tenant_id AND u.kind = k.kind
          AND u.item_id = k.item_id AND (u.agent_id = k.agent_id OR k.kind <> 'SKILL')
          AND u.last_at >= %(now)s::timestamptz - make_interval(days => %(unused_days)s))
)
INSERT INTO proposals (tenant_id, agent_id, kind, item_id, action, created_at)
SELECT DISTINCT ON (tenant_id, kind, item_id, agent_id)
       tenant_id, agent_id, kind, item_id, action, %(now)s
FROM due ORDER BY tenant_id, kind, item_id, agent_id, action DESC
ON CONFLICT (tenant_id, kind, item_id, agent_id) WHERE status = 'waiting' DO NOTHING
