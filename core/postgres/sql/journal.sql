-- name: emit
-- A notification carries at most 8,000 bytes: the ids, and the reader fetches the rest.
-- Commits that notify go one after another over the whole server, each with its flush to disk
-- (measured: 700 a second, without the flush 12,000). So an event that stands alone is not waited
-- for: if the server crashes, the last moments of the journal are lost and nothing else. What was
-- paid is waited for.
WITH event AS (
    INSERT INTO run_events (name, tenant_id, feedback_id, candidate_id, change_id, data)
    VALUES (%(name)s, %(tenant_id)s, %(feedback_id)s, %(candidate_id)s, %(change_id)s, %(data)s)
    RETURNING id, name, feedback_id
), spent AS (
    UPDATE candidates
    SET model_calls = model_calls + %(model_calls)s,
        input_tokens = input_tokens + %(input_tokens)s,
        output_tokens = output_tokens + %(output_tokens)s
    WHERE id = %(candidate_id)s AND %(model_calls)s > 0
)
SELECT pg_notify('run_events', json_build_object(
    'id', id, 'name', left(name, 200), 'feedback_id', left(feedback_id, 200))::text),
    CASE WHEN %(alone)s AND %(model_calls)s = 0
         THEN set_config('synchronous_commit', 'off', true) END
FROM event
