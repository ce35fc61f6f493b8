-- name: entries
-- With each entry the row that it is about, as it is now.
SELECT c.tenant_id, c.seq, c.kind, c.subject, c.body, c.digest, c.salts,
       CASE c.kind WHEN 'history' THEN audit_facts(h) WHEN 'decision' THEN audit_facts(d)
            ELSE audit_facts(e) END AS facts,
       CASE c.kind WHEN 'history' THEN audit_contents(h) WHEN 'decision' THEN audit_contents(d)
            ELSE audit_contents(e) END AS contents,
       coalesce(h.id, d.id::text, e.id) IS NOT NULL AS is_there
FROM (
    SELECT * FROM audit_chain
    WHERE (tenant_id, seq) > (%(tenant)s, %(seq)s)
      AND (%(only)s::text IS NULL OR tenant_id = %(only)s)
    ORDER BY tenant_id, seq LIMIT %(limit)s
) c
LEFT JOIN history h ON c.kind = 'history' AND h.id = c.subject
LEFT JOIN decisions d ON c.kind = 'decision' AND d.id::text = c.subject
LEFT JOIN erasures e ON c.kind = 'erasure' AND e.id = c.subject
ORDER BY c.tenant_id, c.seq

-- name: unchained
SELECT r.tenant_id, r.kind, r.id FROM (
    SELECT tenant_id, 'history' AS kind, id FROM history
    UNION ALL SELECT tenant_id, 'decision', id::text FROM decisions
    UNION ALL SELECT tenant_id, 'erasure', id FROM erasures) r
WHERE (%(only)s::text IS NULL OR r.tenant_id = %(only)s)
  AND NOT EXISTS (SELECT FROM audit_chain c WHERE c.kind = r.kind AND c.subject = r.id)
ORDER BY 1, 2, 3 LIMIT %(limit)s

-- name: heads
SELECT tenant_id, seq, digest FROM audit_heads
WHERE %(only)s::text IS NULL OR tenant_id = %(only)s ORDER BY tenant_id, seq

-- name: log_heads
-- Of the chains that have grown since; of all processes one does it, each so many seconds. The
-- tenants are read from the index, one step each.
WITH RECURSIVE due AS (
    INSERT INTO sweeps AS sweep (name, at) VALUES ('audit heads', clock_timestamp())
    ON CONFLICT (name) DO UPDATE SET at = excluded.at
    WHERE sweep.at < clock_timestamp() - make_interval(secs => %(seconds)s)
    RETURNING name
), tenant AS (
    (SELECT tenant_id FROM audit_chain ORDER BY tenant_id LIMIT 1)
    UNION ALL
    SELECT (SELECT c.tenant_id FROM audit_chain c WHERE c.tenant_id > t.tenant_id
            ORDER BY c.tenant_id LIMIT 1)
    FROM tenant t WHERE t.tenant_id IS NOT NULL
)
INSERT INTO audit_heads (tenant_id, seq, digest)
SELECT last.tenant_id, last.seq, last.digest
FROM due, tenant t
CROSS JOIN LATERAL (SELECT c.tenant_id, c.seq, c.digest FROM audit_chain c
                    WHERE c.tenant_id = t.tenant_id ORDER BY c.seq DESC LIMIT 1) last
ON CONFLICT DO NOTHING
RETURNING tenant_id, seq, digest

-- name: add_calls
INSERT INTO calls (
    tenant_id, at, via, caller, token_id, method, route, ids, outcome, status, times)
SELECT * FROM jsonb_to_recordset(%(calls)s) AS c (
    tenant_id text, at timestamptz, via text, caller text, token_id text, method text, route text,
    ids jsonb, outcome text, status integer, times integer)

-- name: calls
SELECT * FROM calls
WHERE (at, id) < (%(at)s::timestamptz, %(id)s::bigint)
  AND (%(tenant_id)s::text IS NULL OR tenant_id = %(tenant_id)s)
  AND (%(caller)s::text IS NULL OR caller = %(caller)s)
  AND (%(since)s::timestamptz IS NULL OR at >= %(since)s)
  AND (%(refused)s::boolean IS NULL OR (outcome <> 'done') = %(refused)s)
ORDER BY at DESC, id DESC LIMIT %(limit)s

-- name: prune_calls
DELETE FROM calls WHERE at < clock_timestamp() - make_interval(secs => %(seconds)s)
