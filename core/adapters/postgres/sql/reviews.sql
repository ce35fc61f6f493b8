-- name: approve
-- Only what was reviewed; its run has ended, so the intent continues under the present epoch.
UPDATE changes c
SET status = 'applying', decided_by = %(by)s, decided_at = clock_timestamp(),
    decision = %(decision)s, retires = %(retires)s,
    epoch = (SELECT d.epoch FROM candidates d WHERE d.id = c.candidate_id)
WHERE c.id = %(id)s AND c.status = 'held' AND c.content_hash = %(content_hash)s
RETURNING c.decided_by, c.decided_at, c.epoch

-- name: leave_flush
-- An approval without effects outside the database is flushed to disk together with its
-- application.
SELECT set_config('synchronous_commit', 'off', true)

-- name: end
WITH noted AS (
    INSERT INTO change_messages (change_id, tenant_id, said)
    SELECT %(id)s, (SELECT tenant_id FROM changes WHERE id = %(id)s), %(said)s::jsonb
    WHERE %(said)s::jsonb IS NOT NULL
    ON CONFLICT (change_id) DO UPDATE SET said = change_messages.said || excluded.said
)
UPDATE changes
SET status = %(status)s, error = CASE WHEN %(status)s = 'stale' THEN %(reason)s ELSE error END,
    decision = CASE WHEN %(status)s = 'stale' THEN '' ELSE %(reason)s END,
    decided_by = nullif(%(by)s, ''),
    decided_at = CASE WHEN %(by)s <> '' THEN clock_timestamp() END
WHERE id = %(id)s AND status IN ('held', 'stale') AND held <> '[]'
  AND content_hash = %(content_hash)s
RETURNING id

-- name: replace
WITH noted AS (
    INSERT INTO change_messages (change_id, tenant_id, said)
    SELECT %(id)s, %(tenant_id)s, %(said)s::jsonb
    WHERE %(said)s::jsonb IS NOT NULL
    ON CONFLICT (change_id) DO UPDATE SET said = change_messages.said || excluded.said
)
UPDATE changes
SET status = 'held', kind = %(kind)s, reason = %(reason)s, target_id = %(target_id)s, target_name = %(target_name)s,
    operation = %(operation)s, before = %(before)s, after = %(after)s,
    base_hash = %(base_hash)s, merge_mode = %(merge_mode)s, relationship = %(relationship)s,
    warnings = %(warnings)s, seen = %(seen)s, request = %(request)s, held = %(held)s,
    content_hash = %(content_hash)s, edited_by = %(edited_by)s,
    contradicts = %(contradicts)s, proposed = %(proposed)s, findings = %(findings)s,
    cases = %(cases)s, retires = %(retires)s, breaks = %(breaks)s,
    said_at = coalesce(%(said_at)s, said_at), heard_at = coalesce(%(heard_at)s, heard_at), error = NULL, decision = '',
    decided_by = NULL, decided_at = NULL, reminded_at = NULL,
    prepared_at = coalesce(%(prepared_at)s, clock_timestamp())
WHERE id = %(id)s AND status IN ('held', 'stale') AND held <> '[]'
  AND content_hash = %(seen_hash)s
RETURNING id

-- name: now
SELECT clock_timestamp() AS now

-- name: beside
-- What waits for the same agent, or of a tenant's skills; what is done to a skill moves lists, too.
SELECT c.*, (SELECT m.said FROM change_messages m WHERE m.change_id = c.id) AS said
FROM changes c
WHERE c.status IN ('held', 'stale') AND c.held <> '[]' AND c.tenant_id = %(tenant_id)s
  AND c.id <> %(id)s
  AND (c.kind = %(kind)s AND (c.agent_id = %(agent_id)s OR c.kind = 'SKILL')
       OR %(kind)s = 'SKILL' AND c.kind = 'AGENT_SKILLS')
ORDER BY c.said_at, c.heard_at, c.id LIMIT %(limit)s

-- name: overdue
SELECT * FROM changes
WHERE status IN ('held', 'stale') AND held <> '[]'
  AND prepared_at < clock_timestamp() - make_interval(secs => %(seconds)s)
ORDER BY prepared_at, id LIMIT 1000

-- name: remind
UPDATE changes SET reminded_at = clock_timestamp()
WHERE id IN (
    SELECT id FROM changes
    WHERE status IN ('held', 'stale') AND held <> '[]'
      AND coalesce(reminded_at, prepared_at)
          < clock_timestamp() - make_interval(secs => %(seconds)s)
    ORDER BY prepared_at, id LIMIT 1000 FOR UPDATE SKIP LOCKED)
RETURNING *

-- name: lock_feedback
SELECT FROM feedback WHERE id = %(feedback_id)s FOR UPDATE

-- name: end_held_feedback
-- Once its last held change is decided, the feedback ends with the outcome of all.
UPDATE feedback f
SET status = CASE WHEN EXISTS (
        SELECT FROM changes c WHERE c.feedback_id = f.id AND c.status = 'applied'
          AND c.reverts IS NULL AND c.retracts = '[]')
    OR EXISTS (
        SELECT FROM echoes e JOIN changes c ON c.id = e.change_id
        WHERE e.feedback_id = f.id AND c.status = 'applied')
    OR EXISTS (
        SELECT FROM candidates d WHERE d.feedback_id = f.id AND jsonb_path_exists(
            d.verdict, '$.receipts[*].status ? (@ == "known" || @ == "attached")'))
    THEN 'completed' ELSE 'no_action' END
WHERE f.id = %(feedback_id)s AND f.status = 'held'
  AND (%(waits_for_nothing)s
      OR EXISTS (SELECT FROM changes c WHERE c.feedback_id = f.id AND c.held <> '[]')
      OR EXISTS (SELECT FROM echoes e WHERE e.feedback_id = f.id AND e.change_id IS NOT NULL))
  AND NOT EXISTS (
      SELECT FROM changes c WHERE c.feedback_id = f.id AND c.held <> '[]'
        AND c.status IN ('held', 'stale', 'applying'))
  AND NOT EXISTS (
      SELECT FROM echoes e JOIN changes c ON c.id = e.change_id
      WHERE e.feedback_id = f.id AND c.held <> '[]' AND c.status IN ('held', 'stale', 'applying'))
