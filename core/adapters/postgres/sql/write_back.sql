-- name: attempts
SELECT id, knowledge_type, knowledge_id, knowledge_name, agent_id, tenant_id, operation,
       previous_content, new_content, previous_files, new_files, previous_reach, new_reach,
       feedback_content, feedback_id, change_id, attempt, status, error, said_at, created_at
FROM history WHERE change_id = %(change_id)s ORDER BY seq

-- name: later
SELECT h.change_id FROM history h
WHERE h.tenant_id = %(tenant_id)s AND h.knowledge_type = %(kind)s AND h.knowledge_id = %(target_id)s
  AND h.status IN ('applied', 'reverted')
  AND h.seq > (SELECT max(seq) FROM history
               WHERE change_id = %(change_id)s AND status IN ('applied', 'reverted'))
ORDER BY h.seq

-- name: listers
SELECT agent_id FROM agent_skills WHERE tenant_id = %(tenant_id)s AND name = %(name)s
UNION
SELECT agent_id FROM skill_unlistings WHERE tenant_id = %(tenant_id)s AND name = %(name)s
UNION
SELECT agent_id FROM platform_lists
WHERE tenant_id = %(tenant_id)s AND agent_id <> '' AND %(name)s = ANY (ours || theirs || adding)
ORDER BY agent_id

-- name: tenant_skills
SELECT name FROM tenant_skills WHERE tenant_id = %(tenant_id)s

-- name: skill_list
SELECT * FROM platform_lists WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s

-- name: keep
-- No row is written where somebody else has raised the revision.
INSERT INTO platform_lists AS p (tenant_id, agent_id, ours, theirs, "left", adding, removing, coming,
                                 revision)
SELECT %(tenant_id)s, %(agent_id)s, %(ours)s::text[], %(theirs)s::text[], %(left)s::text[],
       %(adding)s::text[], %(removing)s::text[], %(coming)s::text[], %(revision)s::bigint + 1
ON CONFLICT (tenant_id, agent_id) DO UPDATE SET
    ours = excluded.ours, theirs = excluded.theirs, "left" = excluded.left,
    adding = excluded.adding, removing = excluded.removing, coming = excluded.coming,
    revision = excluded.revision
WHERE p.revision = %(revision)s
RETURNING revision

-- name: unsent
-- The last record of each change that never went out; `seq` goes on behind it.
SELECT h.seq, h.tenant_id, h.agent_id, h.knowledge_type, h.knowledge_id, h.operation,
       h.status, h.feedback_id, h.change_id, h.created_at
FROM history h
WHERE h.seq > %(after)s AND h.agent_id <> 'skill-worker'
  AND (%(only)s::text IS NULL OR h.tenant_id = %(only)s)
  AND (%(since)s::timestamptz IS NULL OR h.created_at >= %(since)s)
  AND NOT EXISTS (SELECT FROM history n WHERE n.change_id = h.change_id AND n.seq > h.seq)
  AND NOT EXISTS (SELECT FROM deliveries d
                  WHERE d.target = %(target)s AND d.change_id = h.change_id
                    AND d.event <> 'change.erased')
ORDER BY h.seq LIMIT %(limit)s

-- name: send
INSERT INTO deliveries (tenant_id, target, event, subject, once_key, feedback_id, change_id, payload)
SELECT given.tenant_id, given.target, given.event, given.subject, given.once_key,
       given.feedback_id, given.change_id, given.payload
FROM jsonb_to_recordset(%(rows)s)
     AS given (tenant_id text, target text, event text, subject text, once_key text,
               feedback_id text, change_id text, payload jsonb)
ON CONFLICT (target, once_key) WHERE once_key IS NOT NULL DO NOTHING
