-- name: after
-- An event whose transaction is not older than the oldest open one, the horizon, has no final
-- position yet: what is still to come may precede it. A snapshot includes the open transactions of
-- all databases of the server; those known to be of another database are skipped.
WITH now AS (
    SELECT coalesce(min(open.txid::text::bigint),
                    pg_snapshot_xmax(pg_current_snapshot())::text::bigint) AS horizon
    FROM pg_snapshot_xip(pg_current_snapshot()) AS open (txid)
    WHERE NOT EXISTS (
        SELECT FROM pg_stat_activity a
        WHERE a.backend_xid = open.txid::xid AND a.datname <> current_database())
), found AS (
    SELECT id, txid, at, name, tenant_id, feedback_id, candidate_id, change_id, data, state
    FROM run_events
    WHERE (txid, id) > (%(txid)s::text::xid8, %(id)s) /* asked for */
    ORDER BY txid, id LIMIT %(limit)s
)
SELECT found.id, found.txid::text::bigint AS txid, at, name, tenant_id, feedback_id, candidate_id,
       change_id, data, state, found.txid::text::bigint < now.horizon AS is_settled, now.horizon
FROM now LEFT JOIN found ON true
ORDER BY found.txid, found.id

-- name: of_tenant
AND tenant_id = %(tenant_id)s

-- name: of_feedback
AND feedback_id = %(feedback_id)s

-- name: of_names
AND name = ANY(%(names)s)

-- name: listen
LISTEN run_events

-- name: mend
-- Transaction ids that this server has yet to assign: a dump of another server was restored. Its
-- events come before all that are written here, and so does how far they were looked through.
WITH cursor AS (
    UPDATE lesson_cursor SET txid = 0
    WHERE txid >= pg_snapshot_xmax(pg_current_snapshot())::text::bigint
)
UPDATE run_events SET txid = '0' WHERE txid >= pg_snapshot_xmax(pg_current_snapshot())
