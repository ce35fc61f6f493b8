-- name: drop_expired_name
DELETE FROM access_tokens
WHERE kind = 'token' AND name = %(name)s AND expires_at <= clock_timestamp()

-- name: add
INSERT INTO access_tokens (
    id, kind, hash, name, tenant_id, agent_id, roles, parent, on_purpose, subject, expires_at)
VALUES (%(id)s, %(kind)s, %(hash)s, %(name)s, %(tenant_id)s, %(agent_id)s, %(roles)s, %(parent)s,
        %(on_purpose)s, %(subject)s, %(expires_at)s)
ON CONFLICT (name) WHERE kind = 'token' DO NOTHING

-- name: find
SELECT t.* FROM access_tokens t LEFT JOIN access_tokens p ON p.id = t.parent
WHERE t.hash = %(hash)s
  AND (t.expires_at IS NULL OR t.expires_at > clock_timestamp())
  AND (p.expires_at IS NULL OR p.expires_at > clock_timestamp())

-- name: list
SELECT * FROM access_tokens
WHERE kind = 'token' AND (expires_at IS NULL OR expires_at > clock_timestamp())
ORDER BY created_at, id

-- name: sessions
SELECT s.* FROM access_tokens s LEFT JOIN access_tokens p ON p.id = s.parent
WHERE s.kind = 'session' AND (s.expires_at IS NULL OR s.expires_at > clock_timestamp())
  AND (p.expires_at IS NULL OR p.expires_at > clock_timestamp())
ORDER BY s.created_at DESC, s.id

-- name: revoke
DELETE FROM access_tokens
WHERE id = %(id)s AND (expires_at IS NULL OR expires_at > clock_timestamp())
RETURNING *

-- name: redeem
-- Of two concurrent redemptions the second waits for the first, then finds no row to delete.
WITH link AS (
    DELETE FROM access_tokens t
    WHERE t.hash = %(link_hash)s AND t.kind = 'link'
      AND (t.expires_at IS NULL OR t.expires_at > clock_timestamp())
      AND NOT EXISTS (SELECT FROM access_tokens p
                      WHERE p.id = t.parent AND p.expires_at <= clock_timestamp())
    RETURNING t.*
)
INSERT INTO access_tokens (
    id, kind, hash, name, tenant_id, roles, parent, on_purpose, subject, expires_at)
SELECT %(id)s, 'session', %(hash)s, name, tenant_id, roles, parent, on_purpose, subject,
       %(expires_at)s
FROM link
RETURNING *

-- name: begin_answer
INSERT INTO idempotent_answers AS a (owner, key, digest)
VALUES (%(owner)s, %(key)s, %(digest)s)
ON CONFLICT (owner, key) DO UPDATE
SET digest = excluded.digest, status = NULL, body = '', created_at = clock_timestamp()
WHERE a.created_at < clock_timestamp() - make_interval(
    secs => CASE WHEN a.status IS NULL THEN %(dead_seconds)s ELSE %(keep_seconds)s END)

-- name: answer
SELECT digest, status, body FROM idempotent_answers WHERE owner = %(owner)s AND key = %(key)s

-- name: end_answer
UPDATE idempotent_answers SET status = %(status)s, body = %(body)s
WHERE owner = %(owner)s AND key = %(key)s AND digest = %(digest)s AND status IS NULL

-- name: forget_answer
DELETE FROM idempotent_answers WHERE owner = %(owner)s AND key = %(key)s AND status IS NULL

-- name: prune_tokens
DELETE FROM access_tokens WHERE expires_at <= clock_timestamp()

-- name: prune_answers
DELETE FROM idempotent_answers
WHERE created_at < clock_timestamp() - make_interval(secs => %(keep_seconds)s)
