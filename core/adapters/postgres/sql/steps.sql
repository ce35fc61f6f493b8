-- name: of_feedback
SELECT * FROM changes
WHERE feedback_id = %(feedback_id)s AND retracts = '[]' AND reverts IS NULL
  AND (status = 'applied' OR status IN ('held', 'stale') AND held <> '[]')
ORDER BY created_at, id

-- name: chain
-- Changes of one target were recorded one after another.
SELECT c.* FROM history h JOIN changes c ON c.id = h.change_id
WHERE h.tenant_id = %(tenant_id)s AND h.knowledge_type = %(kind)s
  AND h.knowledge_id = %(target_id)s AND h.status IN ('applied', 'reverted')
ORDER BY h.seq

-- name: later
-- Of other items only what a later word deleted or put something else in the place of: `gone` is
-- what they said until then. What others did to a skill says nothing, and nobody knows when.
-- To change a memory that a later word created would have been to create it: both ask the same.
SELECT c.id AS change_id, c.feedback_id, c.target_id, c.said_at, c.heard_at, NULL::jsonb AS units,
       NULL::jsonb AS gone, false AS is_undoing, NULL::text AS says
FROM changes c
WHERE c.tenant_id = %(tenant_id)s AND c.kind = %(kind)s AND c.status IN ('applied', 'reverted')
  AND (c.said_at, c.heard_at) > (%(said_at)s, %(heard_at)s)
  AND c.feedback_id IS DISTINCT FROM %(feedback_id)s AND c.target_id = %(target_id)s
  AND c.origin <> 'OUTSIDE'
UNION ALL
SELECT * FROM (
    SELECT c.id, c.feedback_id, c.target_id, c.said_at, c.heard_at, NULL::jsonb, c.before,
           c.reverts IS NOT NULL OR c.retracts <> '[]', NULL::text
    FROM changes c
    WHERE c.tenant_id = %(tenant_id)s AND c.kind = %(kind)s AND c.status = 'applied'
      AND (c.said_at, c.heard_at) > (%(said_at)s, %(heard_at)s)
      AND c.feedback_id IS DISTINCT FROM %(feedback_id)s AND c.target_id <> %(target_id)s
      AND c.agent_id = %(agent_id)s AND c.kind IN ('MEMORY', 'DMN_RULE')
      AND (c.kind = 'DMN_RULE' OR %(operation)s = 'CREATE' OR %(operation)s = 'UPDATE' AND EXISTS (
           SELECT FROM changes made
           WHERE made.tenant_id = %(tenant_id)s AND made.kind = %(kind)s
             AND made.target_id = %(target_id)s AND made.operation = 'CREATE'
             AND made.status IN ('applied', 'reverted')
             AND (made.said_at, made.heard_at) > (%(said_at)s, %(heard_at)s)))
      AND (c.operation = 'DELETE' OR c.kind = 'MEMORY' AND c.operation = 'UPDATE'
           AND (c.merge_mode = 'REPLACE' OR c.relationship = 'SUPERSEDES'))
    ORDER BY c.said_at DESC, c.heard_at DESC LIMIT 500) AS elsewhere
UNION ALL
SELECT NULL, e.feedback_id, e.target_id, f.said_at, f.created_at, e.units, NULL, false, e.hash
FROM echoes e JOIN feedback f ON f.id = e.feedback_id
WHERE e.tenant_id = %(tenant_id)s AND e.kind = %(kind)s AND e.target_id = %(target_id)s
  AND (f.said_at, f.created_at) > (%(said_at)s, %(heard_at)s)
  AND e.feedback_id IS DISTINCT FROM %(feedback_id)s
  AND (e.change_id IS NULL
       OR EXISTS (SELECT FROM changes c WHERE c.id = e.change_id AND c.status = 'applied'))
ORDER BY said_at, heard_at, change_id
