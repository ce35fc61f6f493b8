-- The person of a session, as an identity provider calls them: `<issuer> <sub>`.
ALTER TABLE access_tokens ADD COLUMN subject text;

-- The state in an event has no words of anybody's: neither the name that a model chose for an item,
-- nor why a change waits, which may quote it.
CREATE OR REPLACE FUNCTION event_state(
    feedback text, candidate text, change text, calls bigint DEFAULT 0, input bigint DEFAULT 0,
    output bigint DEFAULT 0, price numeric DEFAULT 0) RETURNS jsonb
    LANGUAGE sql STABLE
    RETURN jsonb_strip_nulls(jsonb_build_object(
        'feedback', (
            SELECT jsonb_build_object(
                'status', f.status, 'generation', f.generation, 'attempts', f.attempts,
                'usage', CASE WHEN f.finished_at IS NOT NULL THEN jsonb_build_object(
                    'model_calls', f.model_calls, 'input_tokens', f.input_tokens,
                    'output_tokens', f.output_tokens, 'cost', f.cost::text)
                ELSE (
                    SELECT jsonb_build_object(
                        'model_calls', coalesce(sum(s.model_calls), 0) + calls,
                        'input_tokens', coalesce(sum(s.input_tokens), 0) + event_state.input,
                        'output_tokens', coalesce(sum(s.output_tokens), 0) + event_state.output,
                        'cost', (coalesce(sum(s.cost), 0) + price)::text)
                    FROM (
                        SELECT c.model_calls, c.input_tokens, c.output_tokens, c.cost
                        FROM candidates c WHERE c.feedback_id = f.id
                        UNION ALL
                        SELECT r.model_calls, r.input_tokens, r.output_tokens, r.cost
                        FROM model_replies r
                        WHERE r.key >= 'match:' || f.id || ':' AND r.key < 'match:' || f.id || ';'
                        UNION ALL
                        SELECT r.model_calls, r.input_tokens, r.output_tokens, r.cost
                        FROM candidates c
                        JOIN model_replies r ON r.key >= c.id || ':' AND r.key < c.id || ';'
                        WHERE c.feedback_id = f.id) AS s)
                END)
            FROM feedback f WHERE f.id = feedback),
        'candidate', (
            SELECT jsonb_build_object('usage', jsonb_build_object(
                'model_calls', c.model_calls + calls, 'input_tokens', c.input_tokens + event_state.input,
                'output_tokens', c.output_tokens + event_state.output, 'cost', (c.cost + price)::text))
            FROM candidates c WHERE c.id = candidate),
        'change', (
            SELECT jsonb_build_object(
                'status', c.status, 'kind', c.kind, 'operation', c.operation,
                'target_id', c.target_id, 'decided_by', c.decided_by)
            FROM changes c WHERE c.id = change)));
