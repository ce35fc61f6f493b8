-- name: unfinished
SELECT count(*) AS unfinished FROM feedback WHERE status IN ('queued', 'processing')

-- name: try_sweep
SELECT pg_try_advisory_xact_lock(hashtext('skill-worker'), hashtext('sweep')) AS held

-- name: still_doing
SELECT id FROM procrastinate_jobs WHERE id = ANY(%(job_ids)s) AND status = 'doing'

-- name: without_job
-- Their order is that of their first job, so that what came first is taken up first.
SELECT f.id FROM feedback f
WHERE f.status IN ('queued', 'processing')
  AND NOT EXISTS (
      SELECT FROM procrastinate_jobs j WHERE j.id = f.job_id AND j.status IN ('todo', 'doing'))
ORDER BY f.created_at, f.id
LIMIT %(limit)s
FOR UPDATE OF f SKIP LOCKED

-- name: set_jobs
UPDATE feedback f SET job_id = job.id, status = 'queued', retry_at = NULL
FROM unnest(%(feedback_ids)s::text[], %(job_ids)s::bigint[]) AS job (feedback_id, id)
WHERE f.id = job.feedback_id
