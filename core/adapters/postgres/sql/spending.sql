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

-- name: of_change
SELECT cost FROM change_costs WHERE id = %(id)s
