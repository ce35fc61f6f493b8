-- name: get
SELECT * FROM model_replies WHERE key = %(key)s AND ordinal = %(ordinal)s

-- name: put
INSERT INTO model_replies (key, ordinal, reply, model_calls, input_tokens, output_tokens)
VALUES (
    %(key)s, %(ordinal)s, %(reply)s, %(model_calls)s, %(input_tokens)s, %(output_tokens)s)
ON CONFLICT (key, ordinal) DO NOTHING

-- name: usage
SELECT coalesce(sum(model_calls), 0) AS model_calls,
       coalesce(sum(input_tokens), 0) AS input_tokens,
       coalesce(sum(output_tokens), 0) AS output_tokens
FROM model_replies WHERE starts_with(key, %(key_prefix)s)
