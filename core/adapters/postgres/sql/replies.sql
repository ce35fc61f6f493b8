-- name: get
SELECT * FROM model_replies WHERE key = %(key)s AND ordinal = %(ordinal)s

-- name: put
-- The first reply stored stays, and its cost counts once, for its tenant and day. The reservation
-- is released in the same transaction: between two, one call too many could begin.
WITH stored AS (
    INSERT INTO model_replies (
        key, tenant_id, ordinal, reply, model_calls, input_tokens, output_tokens, cost)
    VALUES (
        %(key)s, %(tenant_id)s, %(ordinal)s, %(reply)s, %(model_calls)s, %(input_tokens)s,
        %(output_tokens)s, %(cost)s)
    ON CONFLICT (key, ordinal) DO NOTHING
    RETURNING key
), paid AS (
    INSERT INTO spending AS s (
        tenant_id, day, model, model_calls, input_tokens, output_tokens, cost, unpriced_calls,
        dearest)
    SELECT %(tenant_id)s, (clock_timestamp() AT TIME ZONE 'UTC')::date, %(model)s,
           %(model_calls)s, %(input_tokens)s, %(output_tokens)s, %(cost)s, %(unpriced)s, %(cost)s
    WHERE %(model_calls)s > 0 AND EXISTS (SELECT FROM stored)
    ON CONFLICT (tenant_id, day, model) DO UPDATE SET
        model_calls = s.model_calls + excluded.model_calls,
        input_tokens = s.input_tokens + excluded.input_tokens,
        output_tokens = s.output_tokens + excluded.output_tokens,
        cost = s.cost + excluded.cost,
        unpriced_calls = s.unpriced_calls + excluded.unpriced_calls,
        dearest = greatest(s.dearest, excluded.dearest)
)
DELETE FROM reservations WHERE id = %(key)s

-- name: usage
SELECT coalesce(sum(model_calls), 0) AS model_calls,
       coalesce(sum(input_tokens), 0) AS input_tokens,
       coalesce(sum(output_tokens), 0) AS output_tokens,
       coalesce(sum(cost), 0) AS cost
FROM model_replies WHERE starts_with(key, %(key_prefix)s)
