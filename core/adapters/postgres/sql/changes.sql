-- name: find
SELECT * FROM changes WHERE key = %(key)s ORDER BY attempt DESC LIMIT 1

-- name: find_all
SELECT DISTINCT ON (key) * FROM changes WHERE key = ANY (%(keys)s) ORDER BY key, attempt DESC

-- name: put_all
-- Intents of no candidate, that are new.
WITH given AS (
    SELECT * FROM jsonb_populate_recordset(NULL::changes, %(rows)s::jsonb) WITH ORDINALITY AS n
), noted AS (
    INSERT INTO change_messages (change_id, tenant_id, said)
    SELECT id, tenant_id, said
    FROM jsonb_to_recordset(%(rows)s::jsonb) AS n (id text, tenant_id text, said jsonb)
    WHERE said IS NOT NULL
)
INSERT INTO changes (
    id, key, digest, attempt, tenant_id, agent_id, kind, target_id, target_name, operation,
    before, after, base_hash, status, reason, merge_mode, relationship, feedback_id,
    feedback_content, candidate_id, epoch, warnings, reverts, seen, error, origin, request,
    candidate_content, held, content_hash, retracts, said_at, heard_at, findings, cases, retires,
    breaks)
SELECT
    id, key, digest, attempt, tenant_id, agent_id, kind, target_id, target_name, operation,
    before, after, base_hash, status, reason, merge_mode, relationship, feedback_id,
    feedback_content, candidate_id, epoch, warnings, reverts, seen, error, origin, request,
    candidate_content, held, content_hash, retracts, coalesce(said_at, clock_timestamp()),
    coalesce(heard_at, clock_timestamp()), findings, cases, retires,
    breaks
FROM given ORDER BY ordinality

-- name: close_all
UPDATE changes SET status = %(status)s, applied_at = clock_timestamp() WHERE id = ANY (%(ids)s)

-- name: get
SELECT * FROM changes WHERE id = %(id)s

-- name: put
-- Writes a target lock, an intent or a failure; the latter two replace their own lock. The fence
-- is read FOR SHARE: nobody raises the epoch between this check and the commit.
WITH fence AS (
    SELECT epoch FROM candidates WHERE id = %(candidate_id)s FOR SHARE
), noted AS (
    INSERT INTO change_messages (change_id, tenant_id, said)
    SELECT %(id)s, %(tenant_id)s, %(said)s::jsonb
    WHERE %(said)s::jsonb IS NOT NULL
    ON CONFLICT (change_id) DO UPDATE SET said = change_messages.said || excluded.said
)
INSERT INTO changes (
    id, key, digest, attempt, tenant_id, agent_id, kind, target_id, target_name, operation,
    before, after, base_hash, status, reason, merge_mode, relationship, feedback_id,
    feedback_content, candidate_id, epoch, warnings, reverts, seen, error, origin, request,
    candidate_content, held, content_hash, retracts, said_at, heard_at, findings, cases, retires,
    breaks)
SELECT
    %(id)s, %(key)s, %(digest)s, %(attempt)s, %(tenant_id)s, %(agent_id)s, %(kind)s,
    %(target_id)s, %(target_name)s, %(operation)s, %(before)s, %(after)s, %(base_hash)s,
    %(status)s, %(reason)s, %(merge_mode)s, %(relationship)s, %(feedback_id)s,
    %(feedback_content)s, %(candidate_id)s, %(epoch)s, %(warnings)s, %(reverts)s, %(seen)s,
    %(error)s, %(origin)s, %(request)s, %(candidate_content)s, %(held)s, %(content_hash)s,
    %(retracts)s, coalesce(%(said_at)s::timestamptz, clock_timestamp()),
    coalesce(%(heard_at)s::timestamptz, clock_timestamp()), %(findings)s,
    %(cases)s, %(retires)s, %(breaks)s
WHERE %(candidate_id)s::text IS NULL
   OR EXISTS (SELECT FROM fence WHERE epoch = %(epoch)s)
ON CONFLICT (id) DO UPDATE SET
    kind = excluded.kind, request = excluded.request, reason = excluded.reason,
    target_id = excluded.target_id, target_name = excluded.target_name,
    operation = excluded.operation, before = excluded.before, after = excluded.after,
    base_hash = excluded.base_hash, status = excluded.status, warnings = excluded.warnings,
    reverts = excluded.reverts, retracts = excluded.retracts, seen = excluded.seen, error = excluded.error,
    held = excluded.held, content_hash = excluded.content_hash, findings = excluded.findings,
    cases = excluded.cases, retires = excluded.retires, breaks = excluded.breaks
WHERE changes.status = 'prepared'

-- name: release
DELETE FROM changes WHERE id = %(id)s AND status = 'prepared'

-- name: release_dead
-- Locks of runs that were taken over or have ended; one without feedback is dead after minutes.
DELETE FROM changes c
WHERE c.tenant_id = %(tenant_id)s AND c.kind = %(kind)s AND c.target_id = %(target_id)s
  AND c.status = 'prepared'
  AND (
      EXISTS (SELECT FROM candidates d WHERE d.id = c.candidate_id AND d.epoch > c.epoch)
      OR EXISTS (SELECT FROM feedback f WHERE f.id = c.feedback_id AND f.status <> 'processing')
         AND c.candidate_id IS NOT NULL
      OR c.candidate_id IS NULL AND c.created_at < clock_timestamp() - interval '10 minutes')

-- name: unfinished
SELECT * FROM changes WHERE candidate_id = %(candidate_id)s AND status = 'applying'
ORDER BY created_at, id

-- name: latest
-- One change at a time has a target; a held one may be applied long after it was created.
SELECT * FROM changes
WHERE tenant_id = %(tenant_id)s AND kind = %(kind)s AND target_id = %(target_id)s
  AND status IN ('applying', 'applied', 'reverted')
ORDER BY status = 'applying' DESC, applied_at DESC NULLS LAST, created_at DESC, id DESC LIMIT 1

-- name: adopt
-- Only if the feedback has ended, or there is none; the writer of the intent is fenced off. The
-- change is locked before its candidate, in the order in which it is concluded.
WITH ended AS (
    SELECT c.id FROM changes c LEFT JOIN feedback f ON f.id = c.feedback_id
    WHERE c.id = %(id)s AND c.status = 'applying'
      AND (f.status IS NULL OR f.status NOT IN ('queued', 'processing'))
    FOR UPDATE OF c
), raised AS (
    UPDATE candidates d SET epoch = d.epoch + 1
    FROM ended, changes c WHERE c.id = ended.id AND d.id = c.candidate_id
    RETURNING d.epoch
)
UPDATE changes c SET epoch = (SELECT epoch FROM raised)
FROM ended WHERE c.id = ended.id
RETURNING c.*

-- name: put_blobs
INSERT INTO blobs (sha256, data, tenant_id)
SELECT *, %(tenant_id)s FROM unnest(%(hashes)s::text[], %(data)b::bytea[])
ON CONFLICT DO NOTHING

-- name: blobs
SELECT b.sha256, b.data FROM unnest(%(hashes)s::text[]) AS wanted (sha256)
CROSS JOIN LATERAL (SELECT * FROM blobs b WHERE b.sha256 = wanted.sha256 LIMIT 1) b

-- name: abandoned
SELECT c.* FROM changes c
LEFT JOIN feedback f ON f.id = c.feedback_id
WHERE c.status = 'applying'
  AND coalesce(c.decided_at, c.created_at) < clock_timestamp() - make_interval(secs => %(seconds)s)
  AND (f.status IS NULL OR f.status NOT IN ('queued', 'processing'))
ORDER BY c.created_at

-- name: lock
-- Always one row, of nulls if there is no such change or candidate. The fence is locked after the
-- change, because the fencing side checks first whether the change was counted.
WITH change AS (
    SELECT status, feedback_id, held <> '[]' AS was_held FROM changes WHERE id = %(id)s FOR UPDATE
), fence AS (
    SELECT epoch FROM candidates
    WHERE id = %(candidate_id)s AND (SELECT count(*) FROM change) >= 0 FOR SHARE
)
SELECT change.status, change.feedback_id, change.was_held, fence.epoch
FROM (SELECT) AS one LEFT JOIN change ON true LEFT JOIN fence ON true

-- name: close
WITH noted AS (
    INSERT INTO change_messages (change_id, tenant_id, said)
    SELECT %(id)s, (SELECT tenant_id FROM changes WHERE id = %(id)s), %(said)s::jsonb
    WHERE %(said)s::jsonb IS NOT NULL
    ON CONFLICT (change_id) DO UPDATE SET said = change_messages.said || excluded.said
)
UPDATE changes
SET status = %(status)s,
    error = coalesce(%(error)s, error),
    applied_at = CASE WHEN %(status)s = 'applied' THEN clock_timestamp() ELSE applied_at END
WHERE id = %(id)s

-- name: take_back
-- What a reverted change had reverted applies again, and what that had reverted in turn does not.
WITH RECURSIVE turned AS (
    SELECT id, reverts, retracts, true AS is_gone FROM changes
    WHERE id = ANY(%(ids)s) AND status = 'applied'
    UNION ALL
    SELECT c.id, c.reverts, c.retracts, NOT t.is_gone FROM turned t
    CROSS JOIN LATERAL (
        SELECT t.reverts AS id
        UNION ALL SELECT jsonb_array_elements_text(t.retracts)) named
    JOIN changes c ON c.id = named.id
)
UPDATE changes c SET status = CASE WHEN t.is_gone THEN 'reverted' ELSE 'applied' END
FROM turned t WHERE c.id = t.id AND c.status IN ('applied', 'reverted')

-- name: record
INSERT INTO history (
    id, knowledge_type, knowledge_id, knowledge_name, agent_id, tenant_id, operation,
    previous_content, new_content, previous_files, new_files, previous_reach, new_reach,
    feedback_content, feedback_id, change_id, attempt, status, error, said_at)
VALUES (
    %(id)s, %(knowledge_type)s, %(knowledge_id)s, %(knowledge_name)s, %(agent_id)s, %(tenant_id)s,
    %(operation)s, %(previous_content)s, %(new_content)s, %(previous_files)s, %(new_files)s,
    %(previous_reach)s, %(new_reach)s,
    %(feedback_content)s, %(feedback_id)s, %(change_id)s, %(attempt)s, %(status)s, %(error)s,
    coalesce(%(said_at)s, (SELECT said_at FROM changes WHERE id = %(change_id)s)))
ON CONFLICT (change_id, attempt, status) DO NOTHING

-- name: record_all
-- In their order: so they are chained.
INSERT INTO history (
    id, knowledge_type, knowledge_id, knowledge_name, agent_id, tenant_id, operation,
    previous_content, new_content, previous_files, new_files, previous_reach, new_reach,
    feedback_content, feedback_id, change_id, attempt, status, error, said_at)
SELECT
    id, knowledge_type, knowledge_id, knowledge_name, agent_id, tenant_id, operation,
    previous_content, new_content, previous_files, new_files, previous_reach, new_reach,
    feedback_content, feedback_id, change_id, attempt, status, error,
    coalesce(h.said_at, (SELECT c.said_at FROM changes c WHERE c.id = h.change_id))
FROM jsonb_populate_recordset(NULL::history, %(rows)s::jsonb) WITH ORDINALITY AS h
ORDER BY ordinality
ON CONFLICT (change_id, attempt, status) DO NOTHING

-- name: list_agent_skill
INSERT INTO agent_skills (tenant_id, agent_id, name)
SELECT tenant_id, id, %(name)s FROM agents_of_tenants
WHERE tenant_id = %(tenant_id)s AND id = %(agent_id)s
ON CONFLICT DO NOTHING

-- name: list_tenant_skill
INSERT INTO tenant_skills (tenant_id, name) VALUES (%(tenant_id)s, %(name)s)
ON CONFLICT DO NOTHING

-- name: unlist_skill
-- From all lists, which are noted: it is back on them where its deletion is undone.
WITH gone AS (
    DELETE FROM agent_skills WHERE tenant_id = %(tenant_id)s AND name = %(name)s
    RETURNING tenant_id, name, agent_id
), of_tenant AS (
    DELETE FROM tenant_skills WHERE tenant_id = %(tenant_id)s AND name = %(name)s
)
INSERT INTO skill_unlistings (tenant_id, name, agent_id) SELECT * FROM gone

-- name: forget_unlistings
DELETE FROM skill_unlistings WHERE tenant_id = %(tenant_id)s AND name = %(name)s

-- name: relist_skill
INSERT INTO agent_skills (tenant_id, agent_id, name)
SELECT a.tenant_id, a.id, u.name
FROM skill_unlistings u JOIN agents_of_tenants a ON a.tenant_id = u.tenant_id AND a.id = u.agent_id
WHERE u.tenant_id = %(tenant_id)s AND u.name = %(name)s
ON CONFLICT DO NOTHING
RETURNING name

-- name: unforeseen_listers
SELECT agent_id FROM agent_skills
WHERE tenant_id = %(tenant_id)s AND name = %(name)s
  AND agent_id <> ALL(%(foreseen)s::text[])
ORDER BY agent_id COLLATE "C" LIMIT 1

-- name: lock_agent
SELECT id FROM agents_of_tenants WHERE tenant_id = %(tenant_id)s AND id = %(agent_id)s FOR UPDATE

-- name: agent_skills
SELECT name FROM agent_skills WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s

-- name: deleted_since
-- Skills that were deleted since this change was last prepared, or are being deleted now.
SELECT DISTINCT d.target_id AS name
FROM changes c
JOIN changes d ON d.tenant_id = c.tenant_id AND d.kind = 'SKILL' AND d.operation = 'DELETE'
    AND d.target_id = ANY(%(names)s)
WHERE c.id = %(change_id)s
  AND (d.status = 'applying' OR (d.status = 'applied' AND d.applied_at > c.prepared_at))
ORDER BY d.target_id

-- name: add_agent_skills
INSERT INTO agent_skills (tenant_id, agent_id, name)
SELECT %(tenant_id)s, %(agent_id)s, unnest(%(names)s::text[])

-- name: drop_agent_skills
DELETE FROM agent_skills
WHERE tenant_id = %(tenant_id)s AND agent_id = %(agent_id)s AND name = ANY(%(names)s)
