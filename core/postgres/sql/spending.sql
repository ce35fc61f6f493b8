-- name: of_days
SELECT * FROM spending
WHERE day > (clock_timestamp() AT TIME ZONE 'UTC')::date - %(days)s::integer
  AND (%(tenant_id)s::text IS NULL OR tenant_id = %(tenant_id)s)
ORDER BY day DESC, tenant_id, model

-- name: pay
WITH over AS (
    DELETE FROM reservations WHERE id = %(call_id)s
)
INSERT INTO spending AS s (
    tenant_id, day, model, model_calls, input_tokens, output_tokens, cost, unpriced_calls, dearest)
SELECT %(tenant_id)s, (clock_timestamp() AT TIME ZONE 'UTC')::date, %(model)s,
       %(model_calls)s, %(input_tokens)s, %(output_tokens)s, %(cost)s, %(unpriced)s, %(cost)s
WHERE %(model_calls)s > 0
ON CONFLICT (tenant_id, day, model) DO UPDATE SET
    model_calls = s.model_calls + excluded.model_calls,
    input_tokens = s.input_tokens + excluded.input_tokens,
    output_tokens = s.output_tokens + excluded.output_tokens,
    cost = s.cost + excluded.cost,
    unpriced_calls = s.unpriced_calls + excluded.unpriced_calls,
    dearest = greatest(s.dearest, excluded.dearest)

-- name: of_author
-- Of one row of several attempts under one key, which share what the author wrote.
SELECT coalesce(sum(model_calls), 0) AS model_calls,
       coalesce(sum(input_tokens), 0) AS input_tokens,
       coalesce(sum(output_tokens), 0) AS output_tokens,
       coalesce(sum(cost), 0) AS cost,
       (SELECT count(*) FROM changes WHERE key = %(key)s) AS shared_by
FROM model_replies
WHERE key = %(author)s OR starts_with(key, %(author)s || ':')

-- name: of_run
SELECT model_calls, input_tokens, output_tokens, cost,
       (SELECT count(*) FROM changes WHERE candidate_id = %(candidate_id)s) AS shared_by
FROM candidates WHERE id = %(candidate_id)s
