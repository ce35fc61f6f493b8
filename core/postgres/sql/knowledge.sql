-- name: get
SELECT * FROM knowledge_versions
WHERE tenant_id = %(tenant_id)s AND kind = %(kind)s AND item_id = %(item_id)s AND valid_to IS NULL

-- name: find_rule
SELECT * FROM knowledge_versions
WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND name_key = %(name_key)s
  AND kind = 'DMN_RULE' AND valid_to IS NULL

-- name: find_same
SELECT * FROM knowledge_versions
WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND kind = %(kind)s
  AND same_key = %(same_key)s AND valid_to IS NULL
ORDER BY valid_from LIMIT 1

-- name: versions
SELECT * FROM knowledge_versions
WHERE tenant_id = %(tenant_id)s AND kind = %(kind)s AND item_id = %(item_id)s
ORDER BY version

-- name: list
-- Skills live behind the skill API: which there are the index tells, what they say only the API;
-- their versions are the changes we made.
SELECT item_id, version, kind, tenant_id, agent_id, name, content, relationship, change_id,
       feedback_id, valid_from, valid_to
FROM knowledge_versions
WHERE valid_to IS NULL
  AND (%(tenant_id)s::text IS NULL OR tenant_id = %(tenant_id)s)
  AND (%(agent_id)s::text IS NULL OR agent_id = %(agent_id)s)
  AND (%(kind)s::text IS NULL OR kind = %(kind)s)
UNION ALL
SELECT d.item_id, coalesce(last.version, 1), d.kind, d.tenant_id, '', d.name, '', NULL,
       last.change_id, last.feedback_id, last.created_at, NULL
FROM search_documents d
LEFT JOIN LATERAL (
    SELECT count(*) OVER () AS version, operation, change_id, feedback_id, created_at
    FROM history h
    WHERE h.tenant_id = d.tenant_id AND h.knowledge_type = 'SKILL' AND h.knowledge_id = d.item_id
      AND h.status = 'applied'
    ORDER BY h.created_at DESC, h.id DESC LIMIT 1
) last ON last.operation <> 'DELETE'
WHERE d.kind = 'SKILL'
  AND (%(tenant_id)s::text IS NULL OR d.tenant_id = %(tenant_id)s)
  AND (%(kind)s::text IS NULL OR %(kind)s = 'SKILL')
  AND (%(agent_id)s::text IS NULL OR EXISTS (
      SELECT FROM agent_skills s
      JOIN agents a ON a.id = s.agent_id AND a.tenant_id = d.tenant_id
      WHERE s.agent_id = %(agent_id)s AND s.name = d.item_id))
ORDER BY valid_from DESC NULLS LAST, item_id

-- name: skill_change
SELECT count(*) OVER () AS version, operation, change_id, feedback_id, created_at AS valid_from
FROM history
WHERE tenant_id = %(tenant_id)s AND knowledge_type = 'SKILL' AND knowledge_id = %(item_id)s
  AND status = 'applied'
ORDER BY created_at DESC, id DESC LIMIT 1

-- name: create
INSERT INTO knowledge_versions (
    item_id, version, kind, tenant_id, agent_id, name, name_key, content, hash, same_key,
    relationship, change_id, feedback_id)
SELECT %(item_id)s, coalesce(max(version), 0) + 1, %(kind)s, %(tenant_id)s, %(agent_id)s,
       %(name)s, %(name_key)s, %(content)s, %(hash)s, %(same_key)s, %(relationship)s,
       %(change_id)s, %(feedback_id)s
FROM knowledge_versions WHERE item_id = %(item_id)s

-- name: supersede
WITH closed AS (
    UPDATE knowledge_versions SET valid_to = clock_timestamp()
    WHERE item_id = %(item_id)s AND tenant_id = %(tenant_id)s AND valid_to IS NULL
      AND hash = %(base_hash)s
    RETURNING version, valid_to
)
INSERT INTO knowledge_versions (
    item_id, version, kind, tenant_id, agent_id, name, name_key, content, hash, same_key,
    relationship, change_id, feedback_id, valid_from)
SELECT %(item_id)s, closed.version + 1, %(kind)s, %(tenant_id)s, %(agent_id)s, %(name)s,
       %(name_key)s, %(content)s, %(hash)s, %(same_key)s, %(relationship)s, %(change_id)s,
       %(feedback_id)s, closed.valid_to
FROM closed

-- name: end
UPDATE knowledge_versions SET valid_to = clock_timestamp()
WHERE item_id = %(item_id)s AND tenant_id = %(tenant_id)s AND valid_to IS NULL
  AND hash = %(base_hash)s
