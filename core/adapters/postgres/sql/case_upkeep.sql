-- name: bare
-- Items without any case, as they were written. Of a skill the agent is one that lists it, and its
-- text is that of the store.
SELECT d.tenant_id, d.kind, d.item_id, d.name, d.revision, m.id AS change_id, m.feedback_id,
       coalesce(v.agent_id, d.agent_id, (
           SELECT min(s.agent_id) FROM agent_skills s
           WHERE s.tenant_id = d.tenant_id AND s.name = d.item_id AND d.kind = 'SKILL')) AS agent_id,
       coalesce(v.content, '') AS content
FROM search_documents d
LEFT JOIN knowledge_versions v
    ON v.tenant_id = d.tenant_id AND v.kind = d.kind AND v.item_id = d.item_id AND v.valid_to IS NULL
LEFT JOIN skill_versions s
    ON d.kind = 'SKILL' AND s.tenant_id = d.tenant_id AND s.item_id = d.item_id
    AND s.valid_to IS NULL
LEFT JOIN changes m ON m.id = coalesce(v.change_id, s.change_id) AND m.status = 'applied'
WHERE d.revision > %(after)s
  AND NOT EXISTS (SELECT FROM cases c
                  WHERE c.tenant_id = d.tenant_id AND c.kind = d.kind AND c.item_id = d.item_id)
ORDER BY d.revision LIMIT %(limit)s
