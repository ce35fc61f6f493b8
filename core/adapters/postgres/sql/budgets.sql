-- name: lock
-- Of two calls that begin at once the second sees what the first has reserved: the next statement
-- of its transaction starts after this one returns.
SELECT pg_advisory_xact_lock(hashtext('skill-worker budget'), hashtext(%(tenant_id)s))

-- name: reserve
-- The most expensive recent call is what the next one may cost. If none is known, all that is left
-- is reserved: one call at a time, until one has ended.
WITH today AS (
    SELECT (clock_timestamp() AT TIME ZONE 'UTC')::date AS day
), known AS (
    SELECT coalesce(sum(s.cost) FILTER (WHERE s.day = today.day), 0) AS spent,
           nullif(max(s.dearest), 0) AS dearest
    FROM today
    LEFT JOIN spending s ON s.tenant_id = %(tenant_id)s AND s.day > today.day - %(lately)s::integer
), others AS (
    SELECT coalesce(sum(amount), 0) AS reserved FROM reservations
    WHERE tenant_id = %(tenant_id)s AND id <> %(id)s AND expires_at > clock_timestamp()
), gone AS (
    DELETE FROM reservations
    WHERE tenant_id = %(tenant_id)s AND id <> %(id)s AND expires_at <= clock_timestamp()
), taken AS (
    INSERT INTO reservations (id, tenant_id, amount, expires_at)
    SELECT %(id)s, %(tenant_id)s, coalesce(dearest, %(budget)s - spent),
           clock_timestamp() + make_interval(secs => %(lasts)s)
    FROM known, others
    WHERE spent + reserved < %(budget)s
    ON CONFLICT (id) DO UPDATE SET amount = excluded.amount, expires_at = excluded.expires_at
    RETURNING id
)
SELECT spent, EXISTS (SELECT FROM taken) AS taken,
       extract(epoch FROM (day + 1)::timestamp AT TIME ZONE 'UTC' - clock_timestamp())::float8
           AS to_midnight
FROM known, today

-- name: renew
UPDATE reservations SET expires_at = clock_timestamp() + make_interval(secs => %(lasts)s)
WHERE id = %(id)s

-- name: release
DELETE FROM reservations WHERE id = %(id)s

-- name: spent
SELECT coalesce(sum(s.cost), 0) AS spent,
       extract(epoch FROM (today.day + 1)::timestamp AT TIME ZONE 'UTC'
           - clock_timestamp())::float8 AS to_midnight
FROM (SELECT (clock_timestamp() AT TIME ZONE 'UTC')::date AS day) AS today
LEFT JOIN spending s ON s.tenant_id = %(tenant_id)s AND s.day = today.day
GROUP BY today.day

-- name: used_up
SELECT * FROM (
    SELECT f.tenant_id, count(*) AS waiting,
           CASE WHEN jsonb_exists(%(budgets)s, f.tenant_id)
                THEN (%(budgets)s ->> f.tenant_id)::numeric
                ELSE %(default)s::numeric END AS budget,
           (SELECT coalesce(sum(s.cost), 0) FROM spending s
            WHERE s.tenant_id = f.tenant_id
              AND s.day = (clock_timestamp() AT TIME ZONE 'UTC')::date) AS spent
    FROM feedback f WHERE f.status IN ('queued', 'processing') GROUP BY f.tenant_id
) AS tenant
WHERE spent >= budget ORDER BY tenant_id

-- name: today
SELECT t.tenant_id,
       CASE WHEN jsonb_exists(%(budgets)s, t.tenant_id)
            THEN (%(budgets)s ->> t.tenant_id)::numeric
            ELSE %(default)s::numeric END AS budget,
       (SELECT coalesce(sum(s.cost), 0) FROM spending s
        WHERE s.tenant_id = t.tenant_id
          AND s.day = (clock_timestamp() AT TIME ZONE 'UTC')::date) AS spent,
       (SELECT count(*) FROM feedback f
        WHERE f.tenant_id = t.tenant_id AND f.status IN ('queued', 'processing')) AS waiting
FROM (
    SELECT tenant_id FROM spending
    WHERE day = (clock_timestamp() AT TIME ZONE 'UTC')::date
    UNION
    SELECT jsonb_object_keys(%(budgets)s)
    UNION
    SELECT %(tenant_id)s::text
) AS t
WHERE t.tenant_id IS NOT NULL
  AND (%(tenant_id)s::text IS NULL OR t.tenant_id = %(tenant_id)s)
ORDER BY t.tenant_id
