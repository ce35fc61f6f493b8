-- name: revive
-- It goes after what its tenant has waiting, as if it were new.
UPDATE feedback f
SET status = 'queued', generation = generation + 1, attempts = 0, epoch = epoch + 1, error = NULL,
    finished_at = NULL, retry_at = NULL, acknowledged = false, pruned = false,
    turn = least(1 + greatest(%(turn)s, (
        SELECT w.turn::bigint FROM feedback w
        WHERE w.tenant_id = f.tenant_id AND w.status = 'queued'
        ORDER BY w.turn DESC LIMIT 1)), 2147483647)
WHERE id = %(id)s AND status NOT IN ('queued', 'processing')
RETURNING *

-- name: reset_verdicts
UPDATE candidates SET verdict = NULL WHERE feedback_id = %(id)s

-- name: take_off
UPDATE feedback SET epoch = epoch + 1
WHERE id = %(id)s AND status IN ('queued', 'processing')
RETURNING epoch, job_id

-- name: fence
UPDATE candidates SET epoch = epoch + 1 WHERE feedback_id = %(id)s

-- name: drop_job
SELECT procrastinate_cancel_job_v1(%(job_id)s, false, true)

-- name: pause
-- A pause without a reason does not erase an earlier one's reason.
INSERT INTO intake_pause (reason) VALUES (%(reason)s)
ON CONFLICT (one) DO UPDATE SET reason = coalesce(nullif(excluded.reason, ''), intake_pause.reason)
RETURNING reason, since

-- name: resume
DELETE FROM intake_pause

-- name: paused
SELECT reason, since FROM intake_pause
