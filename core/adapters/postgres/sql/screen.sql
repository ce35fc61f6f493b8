-- name: facts
-- What is known of who said what a change carries out, who else did, and how many agents it is for.
-- Always one row; a change that no feedback caused has neither author nor source. Policies know
-- what came by command as `inbox`, of whichever tenant.
SELECT f.author,
       CASE f.source WHEN 'inbox/' || f.tenant_id THEN 'inbox' ELSE f.source END AS source,
       f.author IS NOT NULL AND EXISTS (
           SELECT FROM feedback g JOIN changes c ON c.feedback_id = g.id AND c.status = 'applied'
           WHERE g.tenant_id = f.tenant_id AND g.author = f.author AND g.id <> f.id) AS is_known,
       f.author IS NOT NULL AND EXISTS (
           SELECT FROM feedback g JOIN changes c ON c.feedback_id = g.id AND c.status = 'applied'
           WHERE g.tenant_id = f.tenant_id AND g.author = f.author AND c.decided_by IS NOT NULL)
           AS is_accepted,
       (SELECT count(DISTINCT g.author) FROM echoes e JOIN feedback g ON g.id = e.feedback_id
        WHERE e.tenant_id = %(tenant_id)s AND e.kind = %(kind)s AND e.target_id = %(target_id)s
          AND e.hash = %(hash)s AND g.author <> coalesce(f.author, '')) AS others,
       greatest(1, cardinality(f.agent_ids), CASE
           WHEN %(is_for_all)s THEN
               (SELECT count(*) FROM agents_of_tenants a WHERE a.tenant_id = %(tenant_id)s)
           WHEN %(kind)s = 'SKILL' THEN
               (SELECT count(*) FROM agent_skills s
                WHERE s.tenant_id = %(tenant_id)s AND s.name = %(target_id)s) END) AS spread,
       ARRAY(SELECT digest FROM allowed_findings
             WHERE tenant_id = %(tenant_id)s AND digest = ANY (%(digests)s)) AS allowed
FROM (SELECT) AS one LEFT JOIN feedback f ON f.id = %(feedback_id)s

-- name: allowed
SELECT tenant_id, digest, code, reason, allowed_by, change_id, allowed_at FROM allowed_findings
WHERE tenant_id = %(tenant_id)s AND digest = ANY (%(digests)s) ORDER BY allowed_at, digest

-- name: allow
INSERT INTO allowed_findings (tenant_id, digest, code, reason, allowed_by, change_id)
SELECT %(tenant_id)s, digest, code, %(reason)s, %(by)s, %(change_id)s
FROM unnest(%(digests)s::text[], %(codes)s::text[]) AS found (digest, code)
ON CONFLICT (tenant_id, digest) DO NOTHING

-- name: waiting
SELECT count(*) AS changes FROM changes
WHERE status IN ('held', 'stale') AND held <> '[]' AND findings <> '[]'
  AND jsonb_path_exists(findings, '$[*] ? (@.severity == "hold")')
