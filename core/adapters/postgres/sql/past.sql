-- name: as_of
SELECT * FROM knowledge_versions
WHERE tenant_id = %(tenant_id)s AND kind = %(kind)s AND item_id = %(item_id)s
  AND valid_from <= %(at)s AND (valid_to IS NULL OR %(at)s < valid_to)
ORDER BY version DESC LIMIT 1

-- name: skill_as_of
SELECT *, '' AS agent_id FROM skill_versions
WHERE tenant_id = %(tenant_id)s AND item_id = %(item_id)s AND operation <> 'DELETE'
  AND valid_from <= %(at)s AND (valid_to IS NULL OR %(at)s < valid_to)
ORDER BY version DESC LIMIT 1

-- name: versions
SELECT * FROM knowledge_versions
WHERE tenant_id = %(tenant_id)s AND kind = %(kind)s AND item_id = %(item_id)s
ORDER BY version

-- name: skill_versions
SELECT *, '' AS agent_id FROM skill_versions
WHERE tenant_id = %(tenant_id)s AND item_id = %(item_id)s AND operation <> 'DELETE'
ORDER BY version

-- name: version
SELECT * FROM knowledge_versions
WHERE tenant_id = %(tenant_id)s AND kind = %(kind)s AND item_id = %(item_id)s
  AND version = %(version)s

-- name: skill_version
SELECT *, '' AS agent_id FROM skill_versions
WHERE tenant_id = %(tenant_id)s AND item_id = %(item_id)s AND operation <> 'DELETE'
  AND version = %(version)s

-- name: last
-- The newest version of everything that has or had the id; of skills by others only their
-- existence.
SELECT DISTINCT ON (tenant_id, kind) * FROM (
    SELECT item_id, version, kind, tenant_id, agent_id, name, relationship, change_id,
           feedback_id, valid_from, valid_to
    FROM knowledge_versions WHERE item_id = %(item_id)s
    UNION ALL
    SELECT item_id, version, kind, tenant_id, '', name, relationship, change_id, feedback_id,
           valid_from, valid_to
    FROM skill_versions WHERE item_id = %(item_id)s AND operation <> 'DELETE'
    UNION ALL
    SELECT item_id, 0, kind, tenant_id, '', name, NULL, NULL, NULL, NULL, NULL
    FROM search_documents WHERE item_id = %(item_id)s AND kind = 'SKILL'
) known
WHERE (%(tenant_id)s::text IS NULL OR tenant_id = %(tenant_id)s)
  AND (%(kind)s::text IS NULL OR kind = %(kind)s)
ORDER BY tenant_id, kind, valid_to IS NULL DESC, version DESC
