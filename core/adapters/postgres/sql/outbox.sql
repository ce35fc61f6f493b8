-- name: of_event
-- Follows the statement's `event`, so that what goes out is written with it, in the same trip.
, going_out AS (
    INSERT INTO deliveries (tenant_id, target, event, subject, once_key, feedback_id, change_id, payload)
    SELECT coalesce(event.tenant_id, ''), route.target, route.event, route.subject, route.once_key,
           event.feedback_id, event.change_id, to_jsonb(event.*) - 'id'
    FROM event CROSS JOIN jsonb_to_recordset(%(routes)s)
         AS route (target text, event text, subject text, once_key text)
    ON CONFLICT (target, once_key) WHERE once_key IS NOT NULL DO NOTHING
)

-- name: claim
-- Of each subject the first that waits, of a target at most eight (as a constant, so that the plan
-- stops there); of one that failed often in a row one at a time.
WITH target AS (
    SELECT given.name, given.until, coalesce(t.failures, 0) >= %(many)s AS is_failing
    FROM unnest(%(names)s::text[], %(digests)s::text[], %(untils)s::timestamptz[])
         AS given (name, digest, until)
    LEFT JOIN delivery_targets t ON t.name = given.name
    WHERE (t.open_until IS NULL OR t.open_until <= %(now)s)
      AND (t.disabled_at IS NULL OR t.digest <> given.digest)
), due AS (
    SELECT found.seq, target.until FROM target
    CROSS JOIN LATERAL (
        SELECT first.seq, row_number() OVER (ORDER BY first.seq) AS place
        FROM (
            SELECT d.seq FROM deliveries d
            WHERE d.target = target.name AND d.status = 'waiting' AND d.due_at <= %(now)s
              AND (d.claimed_until IS NULL OR d.claimed_until <= %(now)s)
              -- Looked up row by row: an anti-join reads all that waits (28 in place of 2 ms for
              -- 60,000).
              AND d.seq = (
                  SELECT e.seq FROM deliveries e
                  WHERE e.target = d.target AND e.subject = d.subject AND e.status = 'waiting'
                  ORDER BY e.seq LIMIT 1)
            ORDER BY d.seq LIMIT 8) first) found
    WHERE NOT target.is_failing OR found.place = 1 AND NOT EXISTS (
        SELECT FROM deliveries c
        WHERE c.target = target.name AND c.status = 'waiting' AND c.claimed_until > %(now)s)
)
UPDATE deliveries d SET claimed_until = due.until, attempts = d.attempts + 1
FROM due
WHERE d.seq = due.seq AND d.status = 'waiting'
  AND (d.claimed_until IS NULL OR d.claimed_until <= %(now)s)
RETURNING d.*

-- name: settle
-- Only of the latest attempt: what a dead worker's successor has begun is not ended by it.
WITH settled AS (
    UPDATE deliveries SET
        status = %(status)s, claimed_until = NULL, error = %(error)s, said = %(said)s,
        due_at = coalesce(%(due_at)s, due_at),
        ended_at = CASE WHEN %(status)s <> 'waiting' THEN %(ended_at)s::timestamptz END,
        answer = coalesce(%(answer)s, answer)
    WHERE id = %(id)s AND attempts = %(ordinal)s AND status = 'waiting'
    RETURNING id, tenant_id
), noted AS (
    INSERT INTO delivery_attempts (delivery_id, ordinal, tenant_id, at, status, seconds, error, said)
    SELECT id, %(ordinal)s, tenant_id, %(at)s, %(word)s, %(seconds)s, %(error)s, %(said)s::jsonb
    FROM settled
    ON CONFLICT DO NOTHING
), recovered AS (
    -- Not what another attempt, which ended meanwhile, has left: that it rests or is switched off.
    DELETE FROM delivery_targets
    WHERE name = %(target)s AND NOT %(failed)s
      AND (open_until IS NULL OR open_until <= %(ended_at)s)
      AND (disabled_at IS NULL OR digest <> %(digest)s)
), rests AS (
    UPDATE delivery_targets SET failures = 0
    WHERE name = %(target)s AND NOT %(failed)s AND open_until > %(ended_at)s
)
INSERT INTO delivery_targets AS t (name, failures, open_until, disabled_at, digest, error, said)
SELECT %(target)s, 1, %(rests_until)s::timestamptz, %(disabled_at)s::timestamptz, %(digest)s,
       %(error)s, %(said)s::jsonb
FROM settled
WHERE %(failed)s
ON CONFLICT (name) DO UPDATE SET
    failures = t.failures + 1, error = excluded.error, said = excluded.said,
    open_until = CASE WHEN t.failures + 1 < %(many)s THEN excluded.open_until
        ELSE greatest(excluded.open_until, %(ended_at)s::timestamptz + make_interval(secs =>
             least(%(longest)s, %(first)s * 2 ^ least(t.failures + 1 - %(many)s, 30)))) END,
    disabled_at = excluded.disabled_at, digest = excluded.digest
RETURNING failures

-- name: record
WITH answered AS (
    INSERT INTO deliveries (
        tenant_id, target, event, subject, once_key, feedback_id, change_id, payload, status,
        attempts, created_at, ended_at, error, said, answer)
    VALUES (
        %(tenant_id)s, %(target)s, %(event)s, %(subject)s, %(once_key)s, %(feedback_id)s,
        %(change_id)s, %(payload)s, %(status)s, 1, %(at)s, %(ended_at)s, %(error)s, %(said)s,
        %(answer)s)
    ON CONFLICT (target, once_key) WHERE once_key IS NOT NULL DO UPDATE SET
        status = excluded.status, attempts = deliveries.attempts + 1, error = excluded.error,
        said = excluded.said, answer = excluded.answer, ended_at = excluded.ended_at
    RETURNING id, tenant_id, attempts
)
INSERT INTO delivery_attempts (delivery_id, ordinal, tenant_id, at, status, seconds, error, said)
SELECT id, attempts, tenant_id, %(at)s, %(word)s, %(seconds)s, %(error)s, %(said)s::jsonb
FROM answered

-- name: answered
SELECT answer FROM deliveries
WHERE target = %(target)s AND once_key = %(once_key)s AND status = 'delivered'

-- name: page
SELECT * FROM deliveries
WHERE (created_at, id) < (%(at)s::timestamptz, %(id)s) /* asked for */
ORDER BY created_at DESC, id DESC LIMIT %(limit)s

-- name: of_statuses
AND status = ANY(%(statuses)s)

-- name: to_target
AND target = %(target)s

-- name: of_change
AND change_id = %(change_id)s

-- name: get
SELECT * FROM deliveries WHERE id = %(id)s

-- name: attempts
SELECT ordinal, at, status, seconds, error, said FROM delivery_attempts
WHERE delivery_id = %(id)s ORDER BY ordinal

-- name: replay
-- What is on its way just now stays so; its attempts go on counting from there.
WITH again AS (
    UPDATE deliveries SET
        status = 'waiting', due_at = to_timestamp(0), ended_at = NULL, error = NULL, said = NULL,
        attempts = CASE WHEN claimed_until IS NULL THEN 0 ELSE attempts END
    WHERE id = %(id)s
    RETURNING *
), forgotten AS (
    DELETE FROM delivery_attempts a USING again WHERE a.delivery_id = again.id AND again.attempts = 0
)
SELECT * FROM again

-- name: said
SELECT target, event, coalesce(ended_at, created_at) AS at, change_id, status, error, said, answer,
       status = 'waiting' AND target = ANY(%(waited_for)s)
           AND (attempts = 0 OR attempts = 1 AND claimed_until IS NOT NULL) AS is_awaited
FROM deliveries WHERE feedback_id = %(feedback_id)s ORDER BY seq

-- name: targets
SELECT * FROM delivery_targets ORDER BY name

-- name: enable
DELETE FROM delivery_targets WHERE name = %(name)s

-- name: prune
-- What ended long ago; and what waits for a target that nobody has configured for a month.
DELETE FROM deliveries WHERE seq IN (
    SELECT seq FROM deliveries
    WHERE created_at < clock_timestamp() - make_interval(secs => %(seconds)s)
      AND (status <> 'waiting' AND ended_at < clock_timestamp() - make_interval(secs => %(seconds)s)
           OR created_at < clock_timestamp() - make_interval(secs => %(waits)s))
    ORDER BY created_at LIMIT %(limit)s)

-- name: lock_ends
SELECT pg_try_advisory_xact_lock(hashtext('skill-worker'), hashtext('untold ends')) AS acquired

-- name: untold_ends
-- Pieces whose worker died between their end and its event, which is written a moment later.
SELECT f.id, f.tenant_id, f.status, f.error FROM feedback f
WHERE NOT f.pruned AND f.status IN ('completed', 'no_action', 'held', 'failed', 'dead')
  AND f.finished_at < clock_timestamp() - make_interval(secs => %(seconds)s)
  AND f.finished_at > clock_timestamp() - interval '2 days'
  AND NOT EXISTS (
      SELECT FROM run_events e
      WHERE e.feedback_id = f.id AND e.name = 'feedback.finished'
        AND e.at > f.finished_at - interval '1 minute')
ORDER BY f.finished_at LIMIT %(limit)s
