-- name: try_lock
SELECT pg_try_advisory_xact_lock(hashtext('skill-worker'), hashtext('retention')) AS acquired

-- name: ended
-- Held feedback has not ended: what its run did may help a person to decide. A tagged run stays.
SELECT f.id, f.generation, ARRAY(SELECT c.id FROM candidates c WHERE c.feedback_id = f.id)
       AS candidate_ids
FROM feedback f
WHERE NOT f.pruned AND f.status NOT IN ('queued', 'processing') AND f.status <> 'held'
  AND f.finished_at < clock_timestamp() - make_interval(secs => %(seconds)s)
  AND NOT EXISTS (SELECT FROM run_tags t WHERE t.feedback_id = f.id)
ORDER BY f.finished_at
LIMIT %(limit)s
FOR UPDATE OF f SKIP LOCKED

-- name: drop_checkpoints
DELETE FROM checkpoints WHERE thread_id = ANY(%(threads)s)

-- name: drop_checkpoint_blobs
DELETE FROM checkpoint_blobs WHERE thread_id = ANY(%(threads)s)

-- name: drop_checkpoint_writes
DELETE FROM checkpoint_writes WHERE thread_id = ANY(%(threads)s)

-- name: drop_events
DELETE FROM run_events WHERE feedback_id = ANY(%(feedback_ids)s)

-- name: fold_replies
-- What the replies cost stays: of the author as one row per change, of the matcher as one per
-- piece, whose cost covers all generations. Prefixes end with a colon; a semicolon is the next
-- character, so that the index finds the range.
WITH part AS (
    SELECT * FROM unnest(%(kept_keys)s::text[], %(prefixes)s::text[]) AS p (kept_key, prefix)
), gone AS (
    DELETE FROM model_replies r USING part p
    WHERE r.key >= p.prefix AND r.key < left(p.prefix, -1) || ';'
      AND r.key <> p.kept_key AND right(r.key, 7) <> ':author'
    RETURNING CASE WHEN strpos(r.key, ':author:') > 0
                   THEN left(r.key, strpos(r.key, ':author:') + 6) ELSE p.kept_key END AS kept_key,
              r.tenant_id, r.model_calls, r.input_tokens, r.output_tokens, r.cost
)
INSERT INTO model_replies AS r (
    key, tenant_id, ordinal, reply, model_calls, input_tokens, output_tokens, cost)
SELECT kept_key, max(tenant_id), 0, 'null', sum(model_calls), sum(input_tokens), sum(output_tokens), sum(cost)
FROM gone GROUP BY kept_key
ON CONFLICT (key, ordinal) DO UPDATE SET
    model_calls = r.model_calls + excluded.model_calls,
    input_tokens = r.input_tokens + excluded.input_tokens,
    output_tokens = r.output_tokens + excluded.output_tokens,
    cost = r.cost + excluded.cost

-- name: mark
UPDATE feedback SET pruned = true WHERE id = ANY(%(feedback_ids)s)

-- name: drop_events_of_nothing
DELETE FROM run_events WHERE id IN (
    SELECT id FROM run_events
    WHERE feedback_id IS NULL AND at < clock_timestamp() - make_interval(secs => %(seconds)s)
    ORDER BY id LIMIT %(limit)s)
