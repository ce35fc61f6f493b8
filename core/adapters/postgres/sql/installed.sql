-- name: of_tenant
-- What was installed, by the changes that did it: no table of its own could disagree with them. It
-- stands as long as its change does, and the skill was not deleted since.
SELECT DISTINCT ON (c.target_id, c.status)
    c.tenant_id, c.target_id AS name, c.request -> 'published' AS published, c.id AS change_id,
    c.status = 'held' AS is_held, coalesce(c.applied_at, c.prepared_at, c.created_at) AS at
FROM changes c
WHERE c.tenant_id = %(tenant_id)s AND c.kind = 'SKILL' AND c.request ? 'published'
  AND (%(name)s::text IS NULL OR c.target_id = %(name)s)
  AND (c.status = 'held' OR c.status = 'applied' AND NOT EXISTS (
      SELECT FROM changes d
      WHERE d.tenant_id = c.tenant_id AND d.kind = 'SKILL' AND d.target_id = c.target_id
        AND d.status = 'applied' AND d.after IS NULL AND d.applied_at > c.applied_at))
ORDER BY c.target_id, c.status, c.applied_at DESC NULLS LAST, c.created_at DESC, c.id DESC
