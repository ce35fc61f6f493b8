-- name: add
-- One parameter for a whole batch. Ids of a source are locked in a fixed order, so that two
-- batches with common ids wait for each other instead of deadlocking. What came by a source before
-- each tenant had its own (`inbox`, now `inbox/TENANT`) is known to that of its tenant. A new piece
-- goes after what its tenant has waiting and after the turn being served: however much one tenant
-- has waiting, another one's first piece is next but one.
WITH piece AS (
    SELECT * FROM jsonb_to_recordset(%(pieces)s) AS given (
        id text, source_id text, digest text, tenant_id text, agent_ids text[], task text,
        content text, author text, events jsonb, said_at timestamptz, in_reply_to text,
        thread text, output jsonb, masked jsonb, roles text[], trace jsonb, place integer)
    WHERE NOT EXISTS (
        SELECT FROM feedback f WHERE f.source = %(source)s AND f.source_id = given.source_id)
      AND NOT EXISTS (
        SELECT FROM feedback f
        WHERE f.source = split_part(%(source)s, '/', 1) AND f.source_id = given.source_id
          AND f.tenant_id = given.tenant_id AND f.source || '/' || f.tenant_id = %(source)s)
), tenant AS (
    SELECT tenant_id, greatest(%(turn)s, (
        SELECT f.turn FROM feedback f
        WHERE f.tenant_id = t.tenant_id AND f.status = 'queued'
        ORDER BY f.turn DESC LIMIT 1)) AS turn
    FROM (SELECT DISTINCT tenant_id FROM piece) AS t
)
INSERT INTO feedback (
    id, source, source_id, digest, tenant_id, agent_ids, task, content, author, events, said_at,
    claimed_said_at, in_reply_to, thread, output, masked, roles, trace, turn, created_at)
SELECT id, %(source)s, source_id, digest, tenant_id, agent_ids, task, content, author, events,
       CASE WHEN said_at <= now() + interval '5 minutes' THEN said_at
            ELSE now() + place * interval '1 microsecond' END,
       CASE WHEN said_at > now() + interval '5 minutes' THEN said_at END,
       in_reply_to, thread, nullif(output, 'null'), masked, roles, nullif(trace, 'null'),
       least(turn + row_number() OVER (PARTITION BY tenant_id ORDER BY place), 2147483647),
       now() + place * interval '1 microsecond'
FROM piece JOIN tenant USING (tenant_id)
ORDER BY source_id, place
ON CONFLICT (source, source_id) DO NOTHING
RETURNING id, tenant_id, turn, said_at, claimed_said_at, masked

-- name: known
SELECT source_id, id, digest FROM feedback
WHERE source IN (%(source)s, split_part(%(source)s, '/', 1)) AND source_id = ANY(%(source_ids)s)
  AND (source = %(source)s OR source || '/' || tenant_id = %(source)s)

-- name: get
SELECT * FROM feedback WHERE id = %(id)s

-- name: claim
UPDATE feedback
SET status = 'processing', attempts = attempts + 1, epoch = epoch + 1, retry_at = NULL,
    waits_for = NULL
WHERE id = %(id)s AND status IN ('queued', 'processing')
RETURNING *, clock_timestamp() AS claimed_at

-- name: earlier
SELECT id, source_id, left(content, 20000) AS content, in_reply_to, thread FROM feedback
WHERE tenant_id = %(tenant_id)s AND agent_ids && %(agent_ids)s
  AND (status = 'processing' OR status = 'queued' AND retry_at IS NULL)
  AND (said_at, created_at, id) < (%(said_at)s, %(created_at)s, %(id)s)
ORDER BY said_at DESC, created_at DESC, id DESC LIMIT %(limit)s

-- name: passed_over
-- What answers the piece meant nothing without it: why it came to nothing is no matter then.
SELECT f.id, f.source_id, left(f.content, 20000) AS content, f.in_reply_to, f.thread
FROM feedback f
WHERE f.tenant_id = %(tenant_id)s AND f.status = 'no_action'
  AND (f.said_at, f.created_at, f.id) > (%(said_at)s, %(created_at)s, %(id)s)
  AND f.agent_ids && %(agent_ids)s
  AND (f.in_reply_to IN (%(id)s, %(source_id)s) OR EXISTS (
      SELECT FROM candidates c, jsonb_array_elements(c.verdict -> 'receipts') AS receipt
      WHERE c.feedback_id = f.id AND receipt ->> 'category' IN ('duplicate', 'unclear')))
ORDER BY f.in_reply_to IN (%(id)s, %(source_id)s) IS TRUE DESC, f.said_at, f.created_at, f.id
LIMIT %(limit)s

-- name: lock_earlier
-- It cannot end before who waits for it is stored: else nobody would be told.
SELECT status = 'processing' OR status = 'queued' AND retry_at IS NULL AS is_ahead
FROM feedback WHERE id = %(earlier_id)s FOR SHARE

-- name: wait_for
UPDATE feedback SET status = 'queued', attempts = attempts - 1, waits_for = %(earlier_id)s
WHERE id = %(id)s AND epoch = %(epoch)s AND status = 'processing'

-- name: release_waiting
-- Unless the piece is still ahead: this travels with what ends it, if its claim still holds.
UPDATE feedback SET waits_for = NULL
WHERE waits_for = %(id)s AND status = 'queued'
  AND NOT EXISTS (
      SELECT FROM feedback e WHERE e.id = %(id)s
      AND (e.status = 'processing' OR e.status = 'queued' AND e.retry_at IS NULL))
RETURNING id, turn

-- name: give_back
-- What has to wait gets a new turn, as if it were new: else all that failed in an outage would
-- precede other tenants once it is due again.
UPDATE feedback f
SET status = 'queued', error = %(error)s, said = %(said)s,
    attempts = attempts - CASE WHEN %(counts)s THEN 0 ELSE 1 END,
    retry_at = CASE WHEN %(delay)s > 0 THEN now() + make_interval(secs => %(delay)s) END,
    turn = CASE WHEN %(delay)s > 0 THEN least(1 + greatest(%(turn)s, (
        SELECT w.turn::bigint FROM feedback w
        WHERE w.tenant_id = f.tenant_id AND w.status = 'queued'
        ORDER BY w.turn DESC LIMIT 1)), 2147483647) ELSE turn END
WHERE id = %(id)s AND epoch = %(epoch)s AND status = 'processing'
RETURNING turn, retry_at

-- name: finish
-- Keys of the skill author's replies start with the candidate's id and a colon. A semicolon is the
-- next character: unlike a prefix that is no constant, a range can use the index.
WITH spent AS (
    SELECT model_calls, input_tokens, output_tokens, cost
    FROM candidates WHERE feedback_id = %(id)s
    UNION ALL
    SELECT model_calls, input_tokens, output_tokens, cost
    FROM model_replies WHERE starts_with(key, %(matching)s)
    UNION ALL
    SELECT r.model_calls, r.input_tokens, r.output_tokens, r.cost
    FROM candidates c
    JOIN model_replies r ON r.key >= c.id || ':' AND r.key < c.id || ';'
    WHERE c.feedback_id = %(id)s
), total AS (
    SELECT coalesce(sum(model_calls), 0) AS model_calls,
           coalesce(sum(input_tokens), 0) AS input_tokens,
           coalesce(sum(output_tokens), 0) AS output_tokens,
           coalesce(sum(cost), 0) AS cost
    FROM spent
)
UPDATE feedback f
SET status = %(status)s, error = %(error)s, said = %(said)s, finished_at = clock_timestamp(), retry_at = NULL,
    model_calls = total.model_calls, input_tokens = total.input_tokens,
    output_tokens = total.output_tokens, cost = total.cost
FROM total
WHERE f.id = %(id)s AND f.epoch = %(epoch)s AND f.status IN ('queued', 'processing')
