-- name: waiting
SELECT count(*) FILTER (WHERE status = 'queued') AS queued,
       count(*) FILTER (WHERE status = 'processing') AS processing,
       coalesce(greatest(0, extract(epoch FROM clock_timestamp()
           - min(created_at) FILTER (WHERE status = 'queued'))), 0)::float8 AS oldest_seconds
FROM feedback WHERE status IN ('queued', 'processing')

-- name: ended
SELECT status, count(*) AS pieces FROM feedback
WHERE status NOT IN ('queued', 'processing') GROUP BY status

-- name: undecided
SELECT count(*) FILTER (WHERE status = 'held') AS held,
       count(*) FILTER (WHERE status = 'stale') AS stale,
       coalesce(greatest(0, extract(epoch FROM clock_timestamp() - min(prepared_at))), 0)::float8
           AS oldest_seconds
FROM changes WHERE status IN ('held', 'stale') AND held <> '[]'

-- name: going_out
SELECT target, status, count(*) AS deliveries FROM deliveries GROUP BY target, status
