-- name: emit
-- A notification carries at most 8,000 bytes: the ids, and the reader fetches the rest.
-- Commits that notify go one after another over the whole server, each with its flush to disk
-- (measured: 700 a second, without the flush 12,000). So an event that stands alone is not waited
-- for: if the server crashes, the last moments of the journal are lost and nothing else. What was
-- paid is waited for.
WITH event AS (
    INSERT INTO run_events (name, tenant_id, feedback_id, candidate_id, change_id, data, state)
    VALUES (%(name)s, %(tenant_id)s, %(feedback_id)s, %(candidate_id)s, %(change_id)s, %(data)s,
            event_state(%(feedback_id)s, %(candidate_id)s, %(change_id)s))
    RETURNING id, name, tenant_id, feedback_id
)
SELECT pg_notify('run_events', json_build_object(
    'id', id, 'name', left(name, 200), 'tenant_id', left(tenant_id, 200),
    'feedback_id', left(feedback_id, 200))::text),
    CASE WHEN %(alone)s THEN set_config('synchronous_commit', 'off', true) END
FROM event

-- name: pay
-- What a call of a run has cost, beside its event, on the bills of its candidate and its tenant's
-- day. What was set aside for it is free again in the same moment: between the two another call
-- would begin too many.
WITH of_candidate AS (
    UPDATE candidates
    SET model_calls = model_calls + %(model_calls)s,
        input_tokens = input_tokens + %(input_tokens)s,
        output_tokens = output_tokens + %(output_tokens)s,
        cost = cost + %(cost)s
    WHERE id = %(candidate_id)s
), over AS (
    DELETE FROM reservations WHERE id = %(candidate_id)s
), paid AS (
    INSERT INTO spending AS s (
        tenant_id, day, model, model_calls, input_tokens, output_tokens, cost, unpriced_calls,
        dearest)
    SELECT coalesce(%(tenant_id)s::text, ''), (clock_timestamp() AT TIME ZONE 'UTC')::date, %(model)s,
           %(model_calls)s, %(input_tokens)s, %(output_tokens)s, %(cost)s, %(unpriced)s, %(cost)s
    ON CONFLICT (tenant_id, day, model) DO UPDATE SET
        model_calls = s.model_calls + excluded.model_calls,
        input_tokens = s.input_tokens + excluded.input_tokens,
        output_tokens = s.output_tokens + excluded.output_tokens,
        cost = s.cost + excluded.cost,
        unpriced_calls = s.unpriced_calls + excluded.unpriced_calls,
        dearest = greatest(s.dearest, excluded.dearest)
), event AS (
    INSERT INTO run_events (name, tenant_id, feedback_id, candidate_id, change_id, data, state)
    VALUES (%(name)s, %(tenant_id)s, %(feedback_id)s, %(candidate_id)s, %(change_id)s, %(data)s,
            event_state(%(feedback_id)s, %(candidate_id)s, %(change_id)s, %(model_calls)s,
                        %(input_tokens)s, %(output_tokens)s, %(cost)s))
    RETURNING id, name, tenant_id, feedback_id
)
SELECT pg_notify('run_events', json_build_object(
    'id', id, 'name', left(name, 200), 'tenant_id', left(tenant_id, 200),
    'feedback_id', left(feedback_id, 200))::text)
FROM event
