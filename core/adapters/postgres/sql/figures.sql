-- The wanted conditions replace the comments, so that each combination has its own plan.

-- name: unfinished
SELECT status, count(*) AS pieces FROM feedback
WHERE status IN ('queued', 'processing') /* asked for */ GROUP BY status

-- name: finished
SELECT status, count(*) AS pieces FROM feedback
WHERE status NOT IN ('queued', 'processing') /* asked for */ GROUP BY status

-- name: oldest
-- What is due has waited since its creation, or since its next attempt became due.
SELECT coalesce(max(extract(epoch FROM clock_timestamp() - first.created_at)), 0)::float8
           AS oldest_seconds,
       coalesce(max(extract(epoch FROM clock_timestamp() - due.since)), 0)::float8 AS due_seconds
FROM (SELECT) AS one
LEFT JOIN LATERAL (
    SELECT created_at FROM feedback
    WHERE status = 'queued' /* asked for */
    ORDER BY created_at LIMIT 1
) AS first ON true
LEFT JOIN LATERAL (
    SELECT greatest(created_at, retry_at) AS since FROM feedback
    WHERE status = 'queued' AND (retry_at IS NULL OR retry_at <= now()) /* asked for */
    ORDER BY created_at LIMIT 1
) AS due ON true

-- name: just_ended
SELECT status, count(*) AS hour,
       count(*) FILTER (WHERE finished_at > now() - make_interval(secs => %(minutes)s)) AS minutes
FROM feedback
WHERE finished_at > now() - interval '1 hour' /* asked for */
GROUP BY status

-- name: ended
-- Steps are aligned to the beginning of 2000 in UTC.
WITH span AS (
    SELECT date_bin(make_interval(secs => %(step)s), now(), '2000-01-01Z')
           - (%(steps)s - 1) * make_interval(secs => %(step)s) AS begin
)
SELECT span.begin, found.at, found.status, found.pieces
FROM span LEFT JOIN LATERAL (
    SELECT date_bin(make_interval(secs => %(step)s), finished_at, '2000-01-01Z') AS at, status,
           count(*) AS pieces
    FROM feedback
    WHERE finished_at >= span.begin /* asked for */
    GROUP BY 1, 2
) AS found ON true

-- name: outcomes
SELECT kind, operation, status, count(*) AS month,
       count(*) FILTER (WHERE created_at > now() - interval '1 day') AS day
FROM changes
WHERE created_at > now() - interval '30 days' AND status <> 'prepared' /* asked for */
GROUP BY kind, operation, status
ORDER BY kind, operation, status

-- name: reviews
SELECT count(*) FILTER (WHERE status = 'held') AS held,
       count(*) FILTER (WHERE status = 'stale') AS stale,
       coalesce(greatest(0, extract(epoch FROM clock_timestamp() - min(prepared_at))), 0)::float8
           AS oldest_seconds
FROM changes WHERE status IN ('held', 'stale') AND held <> '[]' /* asked for */

-- name: of_tenant
AND tenant_id = %(tenant_id)s

-- name: workers
SELECT w.id, c.name, c.host, c.pid, c.concurrency, c.started_at, w.last_heartbeat,
       w.last_heartbeat >= now() - make_interval(secs => %(stalled_after)s) AS is_alive,
       (SELECT count(*) FROM procrastinate_jobs j
        WHERE j.worker_id = w.id AND j.status = 'doing') AS working,
       ARRAY(
           SELECT f.id FROM procrastinate_jobs j
           JOIN feedback f ON f.id = j.args ->> 'feedback_id'
           WHERE j.worker_id = w.id AND j.status = 'doing'
             AND (%(tenant_id)s::text IS NULL OR f.tenant_id = %(tenant_id)s)
           ORDER BY j.id LIMIT 100) AS feedback_ids
FROM procrastinate_workers w LEFT JOIN worker_cards c ON c.id = w.id
ORDER BY w.id
