-- name: totals
SELECT count(*) FILTER (WHERE status = 'green') AS green,
       count(*) FILTER (WHERE status = 'red') AS red,
       count(*) FILTER (WHERE status = 'unproved') AS unproved,
       count(*) FILTER (WHERE status = 'disabled') AS disabled
FROM live_cases
WHERE (%(tenant_id)s::text IS NULL OR tenant_id = %(tenant_id)s)
  AND (%(agent_id)s::text IS NULL OR agent_id = %(agent_id)s)
  AND (%(kind)s::text IS NULL OR kind = %(kind)s)
  AND (%(item_id)s::text IS NULL OR item_id = %(item_id)s)
  AND (%(change_id)s::text IS NULL OR change_id = %(change_id)s)
  AND (%(check)s::text IS NULL OR body ->> 'check' = %(check)s)

-- name: weeks
-- Changes by the week in which they were asked for. A change that was refused is known by its event
-- alone, whose agent is that of its candidate.
WITH span AS (
    SELECT date_trunc('week', %(until)s::timestamptz AT TIME ZONE 'UTC')
           - (%(weeks)s::integer - 1) * interval '7 days' AS begin
), changed AS (
    SELECT date_trunc('week', c.created_at AT TIME ZONE 'UTC') AS week, count(*) AS applied,
           count(*) FILTER (WHERE EXISTS (
               SELECT FROM cases k WHERE k.change_id = c.id AND k.role = 'proof')) AS proved
    FROM changes c, span
    WHERE c.created_at >= span.begin AT TIME ZONE 'UTC'
      AND c.status IN ('applied', 'reverted') AND c.kind <> 'AGENT_SKILLS'
      AND (%(tenant_id)s::text IS NULL OR c.tenant_id = %(tenant_id)s)
      AND (%(agent_id)s::text IS NULL OR c.agent_id = %(agent_id)s)
      AND (%(kind)s::text IS NULL OR c.kind = %(kind)s)
    GROUP BY 1
), stopped AS (
    SELECT date_trunc('week', e.at AT TIME ZONE 'UTC') AS week,
           count(*) FILTER (WHERE e.data ->> 'came_to' = 'refused') AS refused,
           count(DISTINCT e.change_id) FILTER (WHERE e.data ->> 'came_to' = 'held') AS held
    FROM run_events e, span
    WHERE e.name = 'case.broken' AND e.at >= span.begin AT TIME ZONE 'UTC'
      AND (%(tenant_id)s::text IS NULL OR e.tenant_id = %(tenant_id)s)
      AND (%(kind)s::text IS NULL OR e.data ->> 'kind' = %(kind)s)
      AND (%(agent_id)s::text IS NULL OR EXISTS (
          SELECT FROM candidates a WHERE a.id = e.candidate_id AND a.agent_id = %(agent_id)s))
    GROUP BY 1
), failing AS (
    SELECT date_trunc('week', l.since AT TIME ZONE 'UTC') AS week, count(*) AS red
    FROM live_cases l, span
    WHERE l.status = 'red' AND l.since >= span.begin AT TIME ZONE 'UTC'
      AND (%(tenant_id)s::text IS NULL OR l.tenant_id = %(tenant_id)s)
      AND (%(agent_id)s::text IS NULL OR l.agent_id = %(agent_id)s)
      AND (%(kind)s::text IS NULL OR l.kind = %(kind)s)
    GROUP BY 1
)
SELECT w.week::date AS week, coalesce(c.applied, 0) AS applied, coalesce(c.proved, 0) AS proved,
       coalesce(s.refused, 0) AS refused, coalesce(s.held, 0) AS held, coalesce(f.red, 0) AS red
FROM span
CROSS JOIN LATERAL generate_series(
    span.begin, span.begin + (%(weeks)s::integer - 1) * interval '7 days', interval '7 days')
    AS w (week)
LEFT JOIN changed c ON c.week = w.week
LEFT JOIN stopped s ON s.week = w.week
LEFT JOIN failing f ON f.week = w.week
ORDER BY w.week
