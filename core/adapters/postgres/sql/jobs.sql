-- name: unfinished
SELECT count(*) AS unfinished FROM feedback
WHERE status = 'processing' OR (status = 'queued' AND tenant_id <> ALL(%(besides)s))

-- name: turn
-- The virtual time of start-time fair queuing: the latest turn being served, or that of the next
-- job due. If all wait for their time, it is the lowest of their turns: the others become due
-- after their own tenants' turns. It restarts at 0 whenever nothing is unfinished; should that
-- never happen, turns saturate at the largest integer, and service becomes first come, first
-- served.
SELECT greatest(
    coalesce((SELECT max(turn) FROM feedback WHERE status = 'processing'), 0),
    coalesce(
        (SELECT -priority FROM procrastinate_jobs
         WHERE status = 'todo' AND queue_name = %(queue)s
           AND (scheduled_at IS NULL OR scheduled_at <= now())
         ORDER BY priority DESC, id LIMIT 1),
        (SELECT -priority FROM procrastinate_jobs
         WHERE status = 'todo' AND queue_name = %(queue)s
         ORDER BY priority DESC, id LIMIT 1),
        0)) AS turn

-- name: set_jobs
UPDATE feedback f SET job_id = job.id
FROM unnest(%(feedback_ids)s::text[], %(job_ids)s::bigint[]) AS job (feedback_id, id)
WHERE f.id = job.feedback_id

-- name: try_sweep
SELECT pg_try_advisory_xact_lock(hashtext('skill-worker'), hashtext(%(sweep)s)) AS acquired

-- name: note_sweep
-- No row: it ran less than `every` seconds ago. A time in the future means that the clock was set
-- back.
INSERT INTO sweeps AS sweep (name, at) VALUES (%(sweep)s, clock_timestamp())
ON CONFLICT (name) DO UPDATE SET at = excluded.at
WHERE sweep.at NOT BETWEEN excluded.at - make_interval(secs => %(every)s) AND excluded.at
RETURNING at

-- name: still_doing
SELECT id FROM procrastinate_jobs WHERE id = ANY(%(job_ids)s) AND status = 'doing'

-- name: end_stalled
-- Jobs started by workers that were silent for too long, or no longer exist. Few jobs are `doing`,
-- and they have an index.
WITH stalled AS (
    SELECT j.id, j.args ->> 'feedback_id' AS feedback_id
    FROM procrastinate_jobs j
    LEFT JOIN procrastinate_workers w ON w.id = j.worker_id
    WHERE j.status = 'doing' AND j.queue_name = %(queue)s
      AND (w.id IS NULL
           OR w.last_heartbeat < now() - make_interval(secs => %(stalled_after)s))
    FOR UPDATE OF j SKIP LOCKED
)
SELECT id, feedback_id, procrastinate_finish_job_v1(id, 'failed', true) FROM stalled

-- name: requeue
-- The feedback of a stalled job keeps its turn: it is older than what waits behind it.
UPDATE feedback f SET status = 'queued', retry_at = NULL
FROM unnest(%(feedback_ids)s::text[], %(job_ids)s::bigint[]) AS stalled (feedback_id, job_id)
WHERE f.id = stalled.feedback_id AND f.job_id = stalled.job_id
  AND f.status IN ('queued', 'processing')
RETURNING f.id, f.turn

-- name: lock_without_job
SELECT f.id FROM feedback f
WHERE f.status IN ('queued', 'processing')
  AND NOT EXISTS (
      SELECT FROM procrastinate_jobs j WHERE j.id = f.job_id AND j.status IN ('todo', 'doing'))
  AND NOT EXISTS (
      SELECT FROM feedback e WHERE e.id = f.waits_for
        AND (e.status = 'processing' OR e.status = 'queued' AND e.retry_at IS NULL))
ORDER BY f.created_at, f.id
LIMIT %(limit)s
FOR UPDATE OF f SKIP LOCKED

-- name: requeue_without_job
-- Of those locked, one may have got a job between the search and the lock.
UPDATE feedback f SET status = 'queued', retry_at = NULL
WHERE f.id = ANY(%(feedback_ids)s) AND f.status IN ('queued', 'processing')
  AND NOT EXISTS (
      SELECT FROM procrastinate_jobs j WHERE j.id = f.job_id AND j.status IN ('todo', 'doing'))
RETURNING f.id, f.turn
