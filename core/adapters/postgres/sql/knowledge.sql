-- name: get
SELECT * FROM knowledge_versions
WHERE tenant_id = %(tenant_id)s AND kind = %(kind)s AND item_id = %(item_id)s AND valid_to IS NULL

-- name: find_named
-- Not of memories, whose names are their texts: the index is without them.
SELECT * FROM knowledge_versions
WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND name_key = %(name_key)s
  AND kind = %(kind)s AND kind <> 'MEMORY' AND valid_to IS NULL

-- name: packages
SELECT kind, package FROM kind_packages ORDER BY kind

-- name: note_package
INSERT INTO kind_packages (kind, package) VALUES (%(kind)s, %(package)s)
ON CONFLICT (kind) DO UPDATE SET package = EXCLUDED.package
WHERE kind_packages.package <> EXCLUDED.package

-- name: find_same
SELECT * FROM knowledge_versions
WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND kind = %(kind)s
  AND same_key = ANY (%(same_keys)s) AND coalesce(scope_user, '') = coalesce(%(user)s, '')
  AND valid_to IS NULL
ORDER BY valid_from

-- name: taken
SELECT * FROM knowledge_versions
WHERE tenant_id = %(tenant_id)s AND kind = %(kind)s AND item_id = ANY (%(ids)s)
  AND valid_to IS NULL
UNION
SELECT * FROM knowledge_versions
WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND kind = %(kind)s
  AND same_key = ANY (%(same_keys)s) AND valid_to IS NULL

-- name: some
-- What the tenant shares is found by its documents, which have an index of it.
SELECT * FROM knowledge_versions
WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND kind = %(kind)s
  AND valid_to IS NULL
  AND (%(since)s::timestamptz IS NULL OR valid_from > %(since)s)
UNION ALL
SELECT k.* FROM search_documents d
JOIN knowledge_versions k
  ON k.tenant_id = d.tenant_id AND k.kind = d.kind AND k.item_id = d.item_id AND k.valid_to IS NULL
WHERE d.tenant_id = %(tenant_id)s AND d.kind = %(kind)s AND d.agent_id IS NULL
  AND k.agent_id <> %(agent_id)s
  AND (%(since)s::timestamptz IS NULL OR k.valid_from > %(since)s)
LIMIT %(limit)s

-- name: list
-- Skills live behind the skill API: the index knows which there are, only the API their text;
-- their versions are the changes made here.
SELECT item_id, version, kind, tenant_id, agent_id, name, content, relationship, change_id,
       feedback_id, valid_from, valid_to, valid_until, scope, scope_user
FROM knowledge_versions
WHERE valid_to IS NULL
  AND coalesce(valid_until < clock_timestamp(), false) = %(expired)s
  AND (%(tenant_id)s::text IS NULL OR tenant_id = %(tenant_id)s)
  AND (%(agent_id)s::text IS NULL OR agent_id = %(agent_id)s)
  AND (%(kind)s::text IS NULL OR kind = %(kind)s)
UNION ALL
SELECT d.item_id, coalesce(last.version, 1), d.kind, d.tenant_id, '', d.name, '', NULL,
       last.change_id, last.feedback_id, last.valid_from, NULL, NULL, 'agent', NULL
FROM search_documents d
LEFT JOIN LATERAL (
    SELECT * FROM skill_versions s
    WHERE s.tenant_id = d.tenant_id AND s.item_id = d.item_id AND s.valid_to IS NULL
) last ON last.operation <> 'DELETE'
WHERE d.kind = 'SKILL' AND NOT %(expired)s
  AND (%(tenant_id)s::text IS NULL OR d.tenant_id = %(tenant_id)s)
  AND (%(kind)s::text IS NULL OR %(kind)s = 'SKILL')
  AND (%(agent_id)s::text IS NULL OR EXISTS (
      SELECT FROM agent_skills s
      WHERE s.tenant_id = d.tenant_id AND s.agent_id = %(agent_id)s AND s.name = d.item_id))
ORDER BY valid_from DESC NULLS LAST, item_id

-- name: skill_change
SELECT version, operation, relationship, change_id, feedback_id, valid_from
FROM skill_versions
WHERE tenant_id = %(tenant_id)s AND item_id = %(item_id)s AND valid_to IS NULL

-- name: create
INSERT INTO knowledge_versions (
    item_id, version, kind, tenant_id, agent_id, name, name_key, content, hash, same_key,
    relationship, change_id, feedback_id, valid_until, scope, scope_user, valid_from)
SELECT %(item_id)s, coalesce(max(version), 0) + 1, %(kind)s, %(tenant_id)s, %(agent_id)s,
       %(name)s, %(name_key)s, %(content)s, %(hash)s, %(same_key)s, %(relationship)s,
       %(change_id)s, %(feedback_id)s, %(valid_until)s, %(scope)s, %(scope_user)s,
       greatest(clock_timestamp(), max(valid_to))
FROM knowledge_versions
WHERE tenant_id = %(tenant_id)s AND kind = %(kind)s AND item_id = %(item_id)s
RETURNING version

-- name: create_all
INSERT INTO knowledge_versions (
    item_id, version, kind, tenant_id, agent_id, name, name_key, content, hash, same_key,
    relationship, change_id, feedback_id, valid_until, scope, scope_user, valid_from)
SELECT n.item_id, coalesce(old.version, 0) + 1, n.kind, n.tenant_id, n.agent_id, n.name, n.name_key,
       n.content, n.hash, n.same_key, n.relationship, n.change_id, n.feedback_id, n.valid_until,
       n.scope, n.scope_user, greatest(clock_timestamp(), old.valid_to)
FROM jsonb_populate_recordset(NULL::knowledge_versions, %(rows)s::jsonb) WITH ORDINALITY AS n
CROSS JOIN LATERAL (
    SELECT max(v.version) AS version, max(v.valid_to) AS valid_to FROM knowledge_versions v
    WHERE v.tenant_id = n.tenant_id AND v.kind = n.kind AND v.item_id = n.item_id
) AS old
ORDER BY n.ordinality

-- name: supersede
WITH closed AS (
    UPDATE knowledge_versions SET valid_to = greatest(clock_timestamp(), valid_from)
    WHERE tenant_id = %(tenant_id)s AND kind = %(kind)s AND item_id = %(item_id)s
      AND valid_to IS NULL AND hash = %(base_hash)s
    RETURNING version, valid_to
)
INSERT INTO knowledge_versions (
    item_id, version, kind, tenant_id, agent_id, name, name_key, content, hash, same_key,
    relationship, change_id, feedback_id, valid_until, scope, scope_user, valid_from)
SELECT %(item_id)s, closed.version + 1, %(kind)s, %(tenant_id)s, %(agent_id)s, %(name)s,
       %(name_key)s, %(content)s, %(hash)s, %(same_key)s, %(relationship)s, %(change_id)s,
       %(feedback_id)s, %(valid_until)s, %(scope)s, %(scope_user)s, closed.valid_to
FROM closed
RETURNING version

-- name: end
UPDATE knowledge_versions SET valid_to = greatest(clock_timestamp(), valid_from)
WHERE tenant_id = %(tenant_id)s AND kind = %(kind)s AND item_id = %(item_id)s
  AND valid_to IS NULL AND hash = %(base_hash)s
RETURNING version

-- name: page
-- By code points, whatever the collation: two systems with the same data list it in one order.
SELECT * FROM knowledge_versions
WHERE valid_to IS NULL AND kind = %(kind)s
  AND (%(tenant_id)s::text IS NULL OR tenant_id = %(tenant_id)s)
  AND (%(agent_id)s::text IS NULL OR agent_id = %(agent_id)s)
  AND (tenant_id COLLATE "C", item_id COLLATE "C") > (%(after_tenant)s, %(after_id)s)
ORDER BY tenant_id COLLATE "C", item_id COLLATE "C"
LIMIT %(limit)s

-- name: browse
-- The page comes first: skill versions and excerpts are looked up for its rows alone. OFFSET is a
-- fence that keeps the planner from computing the versions of all skills (17 ms instead of 4 s).
WITH page AS (
    SELECT * FROM (
        SELECT tenant_id, kind, item_id, version, agent_id, name, relationship, change_id,
               feedback_id, valid_from, valid_until, scope, scope_user
        FROM knowledge_versions
        WHERE valid_to IS NULL
          AND coalesce(valid_until < clock_timestamp(), false) = %(expired)s
          AND (%(tenant_id)s::text IS NULL OR tenant_id = %(tenant_id)s)
          AND (%(agent_id)s::text IS NULL OR agent_id = %(agent_id)s)
          AND (%(kind)s::text IS NULL OR kind = %(kind)s)
        UNION ALL
        SELECT d.tenant_id, d.kind, d.item_id, NULL, '', d.name, NULL, NULL, NULL, NULL, NULL,
               'agent', NULL
        FROM search_documents d
        WHERE d.kind = 'SKILL' AND NOT %(expired)s
          AND (%(tenant_id)s::text IS NULL OR d.tenant_id = %(tenant_id)s)
          AND (%(kind)s::text IS NULL OR %(kind)s = 'SKILL')
          AND (%(agent_id)s::text IS NULL OR EXISTS (
              SELECT FROM agent_skills s
              WHERE s.tenant_id = d.tenant_id AND s.agent_id = %(agent_id)s AND s.name = d.item_id))
    ) known
    WHERE %(tenant)s::text IS NULL
       OR (tenant_id COLLATE "C", kind COLLATE "C", item_id COLLATE "C")
          > (%(tenant)s, %(after_kind)s, %(after_id)s)
    ORDER BY tenant_id COLLATE "C", kind COLLATE "C", item_id COLLATE "C"
    LIMIT %(limit)s
)
SELECT page.tenant_id, page.kind, page.item_id, page.agent_id, page.name,
       coalesce(page.version, last.version, 1) AS version,
       coalesce(page.relationship, last.relationship) AS relationship,
       coalesce(page.change_id, last.change_id) AS change_id,
       coalesce(page.feedback_id, last.feedback_id) AS feedback_id,
       coalesce(page.valid_from, last.valid_from) AS valid_from,
       page.valid_until, page.scope, page.scope_user AS user,
       left(coalesce(d.content, ''), 240) AS excerpt
FROM page
LEFT JOIN LATERAL (
    SELECT * FROM skill_versions s
    WHERE s.tenant_id = page.tenant_id AND s.item_id = page.item_id AND s.valid_to IS NULL
    OFFSET 0
) last ON page.kind = 'SKILL' AND last.operation <> 'DELETE'
LEFT JOIN LATERAL (
    SELECT content FROM search_documents s
    WHERE s.tenant_id = page.tenant_id AND s.kind = page.kind AND s.item_id = page.item_id
    OFFSET 0
) d ON true
ORDER BY page.tenant_id COLLATE "C", page.kind COLLATE "C", page.item_id COLLATE "C"

-- name: archived
-- What a person put away by accepting a proposal, as long as nothing else has become of it since.
-- A skill is put away for its agent: it is off the list, and has not been on it since.
SELECT DISTINCT ON (p.tenant_id COLLATE "C", p.kind COLLATE "C", p.item_id COLLATE "C")
       p.tenant_id, p.kind, p.item_id, p.agent_id, coalesce(v.name, p.item_id) AS name,
       coalesce(v.version, 1) AS version, v.relationship, c.id AS change_id, v.feedback_id,
       v.valid_from, v.valid_until, coalesce(v.scope, 'agent') AS scope, v.scope_user AS user,
       left(coalesce(v.content, d.content, ''), 240) AS excerpt, c.applied_at AS archived_at
FROM proposals p
JOIN changes c ON c.id = p.change_id AND c.status = 'applied'
LEFT JOIN LATERAL (
    SELECT * FROM knowledge_versions k
    WHERE k.tenant_id = p.tenant_id AND k.kind = p.kind AND k.item_id = p.item_id
    ORDER BY k.version DESC LIMIT 1
) v ON p.kind <> 'SKILL'
LEFT JOIN search_documents d
    ON p.kind = 'SKILL' AND d.tenant_id = p.tenant_id AND d.kind = p.kind AND d.item_id = p.item_id
WHERE p.action = 'archive' AND p.status = 'accepted'
  AND (%(tenant_id)s::text IS NULL OR p.tenant_id = %(tenant_id)s)
  AND (%(agent_id)s::text IS NULL OR p.agent_id = %(agent_id)s)
  AND (%(kind)s::text IS NULL OR p.kind = %(kind)s)
  AND (%(tenant)s::text IS NULL
       OR (p.tenant_id COLLATE "C", p.kind COLLATE "C", p.item_id COLLATE "C")
          > (%(tenant)s, %(after_kind)s, %(after_id)s))
  AND CASE WHEN p.kind = 'SKILL' THEN d.id IS NOT NULL AND NOT EXISTS (
          SELECT FROM agent_skills s WHERE s.tenant_id = p.tenant_id
          AND s.agent_id = p.agent_id AND s.name = p.item_id)
      ELSE v.valid_to IS NOT NULL AND v.content <> '[erased]' END
  AND NOT EXISTS (
      SELECT FROM changes x
      WHERE x.tenant_id = c.tenant_id AND x.kind = c.kind AND x.target_id = c.target_id
        AND x.status = 'applied' AND x.applied_at > c.applied_at
        AND (p.kind <> 'SKILL'
             OR p.item_id = ANY (string_to_array(x.before ->> 'content', E'\n'))))
ORDER BY p.tenant_id COLLATE "C", p.kind COLLATE "C", p.item_id COLLATE "C", c.applied_at DESC
LIMIT %(limit)s

