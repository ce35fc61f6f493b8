-- name: emit
-- A notification carries at most 8,000 bytes: it has the ids, and the reader fetches the rest.
-- Commits that notify are serialised over the whole server, each with its flush to disk (measured:
-- 700 per second, without the flush 12,000). So a lone event is not flushed: if the server
-- crashes, only the last moments of the journal are lost. Paid calls are flushed.
WITH event AS (
    INSERT INTO run_events (name, tenant_id, feedback_id, candidate_id, change_id, data, state)
    VALUES (%(name)s, %(tenant_id)s, %(feedback_id)s, %(candidate_id)s, %(change_id)s, %(data)s,
            event_state(%(feedback_id)s, %(candidate_id)s, %(change_id)s))
    RETURNING id, at, name, tenant_id, feedback_id, candidate_id, change_id, data, state
) /* what goes out */
SELECT pg_notify('run_events', json_build_object(
    'id', id, 'name', left(name, 200), 'tenant_id', left(tenant_id, 200),
    'feedback_id', left(feedback_id, 200))::text),
    CASE WHEN %(alone)s THEN set_config('synchronous_commit', 'off', true) END
FROM event

-- name: emit_all
WITH event AS (
    INSERT INTO run_events (name, tenant_id, feedback_id, candidate_id, change_id, data, state)
    SELECT name, tenant_id, feedback_id, candidate_id, change_id, data,
           event_state(feedback_id, candidate_id, change_id)
    FROM jsonb_populate_recordset(NULL::run_events, %(rows)s::jsonb) WITH ORDINALITY AS e
    ORDER BY ordinality
    RETURNING id, name, tenant_id, feedback_id
)
SELECT pg_notify('run_events', json_build_object(
    'id', id, 'name', left(name, 200), 'tenant_id', left(tenant_id, 200),
    'feedback_id', left(feedback_id, 200))::text)
FROM event

-- name: pay
-- The cost of a run's call, charged to its candidate and its tenant's day together with its event.
-- The reservation is released in the same transaction: between two, one call too many could begin.
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
    RETURNING id, at, name, tenant_id, feedback_id, candidate_id, change_id, data, state
) /* what goes out */
SELECT pg_notify('run_events', json_build_object(
    'id', id, 'name', left(name, 200), 'tenant_id', left(tenant_id, 200),
    'feedback_id', left(feedback_id, 200))::text)
FROM event
