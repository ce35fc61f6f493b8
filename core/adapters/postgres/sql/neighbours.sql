-- name: newest
-- Of the agent, if one is given, and of what the tenant shares: in the index's whole order, since
-- PostgreSQL reads all rows of a key that is NULL for their max.
SELECT coalesce(greatest((
    SELECT revision FROM search_documents
    WHERE tenant_id = %(tenant_id)s AND kind = %(kind)s AND agent_id IS NULL
    ORDER BY agent_id DESC, revision DESC LIMIT 1
), (
    SELECT max(revision) FROM search_documents
    WHERE tenant_id = %(tenant_id)s AND kind = %(kind)s AND agent_id = %(agent_id)s
)), 0) AS newest

-- name: lock
-- Writers of this agent's documents of a kind are serialised until they commit: so revisions
-- appear in order, and none newer than a mark is missed. Who writes for the whole tenant waits for
-- all of its agents, as each compares with that too; this lock comes first, whoever takes it.
SELECT CASE WHEN %(is_shared)s
       THEN pg_advisory_xact_lock(
           hashtext('skill-worker ' || %(tenant_id)s), hashtext(%(kind)s || E'\n'))
       ELSE pg_advisory_xact_lock_shared(
           hashtext('skill-worker ' || %(tenant_id)s), hashtext(%(kind)s || E'\n'))
       END,
       pg_advisory_xact_lock(
           hashtext('skill-worker ' || %(tenant_id)s), hashtext(%(kind)s || ' ' || %(agent_id)s))

-- name: newer
SELECT item_id, left(content, 20000) AS content FROM search_documents
WHERE tenant_id = %(tenant_id)s AND kind = %(kind)s
  AND (agent_id = %(agent_id)s OR agent_id IS NULL)
  AND revision > %(seen)s AND item_id <> %(item_id)s
ORDER BY revision

-- name: tables
-- The index has only the words of a table; its document is in the knowledge tables.
SELECT k.item_id, k.content FROM search_documents d
JOIN knowledge_versions k
  ON k.tenant_id = d.tenant_id AND k.kind = d.kind AND k.item_id = d.item_id AND k.valid_to IS NULL
WHERE d.tenant_id = %(tenant_id)s AND d.kind = %(kind)s AND d.agent_id = %(agent_id)s
  AND d.revision > %(seen)s AND d.item_id <> %(item_id)s
ORDER BY d.revision

-- name: skills
-- Skills that changes have created since, and those being created now.
SELECT c.target_id AS item_id, c.after ->> 'content' AS content, c.status = 'applying' AS is_open
FROM changes c
LEFT JOIN search_documents d
  ON d.tenant_id = c.tenant_id AND d.kind = c.kind AND d.item_id = c.target_id
WHERE c.tenant_id = %(tenant_id)s AND c.kind = 'SKILL' AND c.operation = 'CREATE'
  AND c.target_id <> %(item_id)s AND c.after IS NOT NULL
  AND (c.status = 'applying' OR c.status = 'applied' AND d.revision > %(seen)s)
ORDER BY c.created_at
