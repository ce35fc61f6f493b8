-- What a person said is under their name, or, once erased, under a pseudonym made of it.

-- name: tenants
SELECT DISTINCT tenant_id FROM (
    SELECT tenant_id FROM feedback
    WHERE author = %(author)s OR author LIKE 'erased:%%' AND author = erased_author(tenant_id, %(author)s)
    UNION ALL SELECT tenant_id FROM knowledge_versions WHERE scope_user = %(author)s
    UNION ALL SELECT tenant_id FROM changes WHERE %(author)s IN (decided_by, edited_by)
    UNION ALL SELECT tenant_id FROM decisions WHERE decided_by = %(author)s
    UNION ALL SELECT tenant_id FROM calls WHERE caller = %(author)s
    UNION ALL SELECT tenant_id FROM proposals WHERE decided_by = %(author)s
    UNION ALL SELECT tenant_id FROM run_tags WHERE tagged_by = %(author)s
    UNION ALL SELECT tenant_id FROM run_forks WHERE forked_by = %(author)s
    UNION ALL SELECT tenant_id FROM cases WHERE made_by = %(author)s
    UNION ALL SELECT tenant_id FROM erasures
    WHERE author_digest = erased_author(tenant_id, %(author)s)) known
WHERE %(only)s::text IS NULL OR tenant_id = %(only)s ORDER BY tenant_id

-- name: said
SELECT f.id, f.status, f.generation, f.source, f.author = %(author)s AS is_named,
       ARRAY(SELECT c.id FROM candidates c WHERE c.feedback_id = f.id) AS candidate_ids
FROM feedback f
WHERE f.tenant_id = %(tenant_id)s
  AND (f.author = %(author)s OR f.author = erased_author(%(tenant_id)s, %(author)s))
ORDER BY f.created_at, f.id

-- name: held
-- Lessons of the worker that quote what was said of it too.
SELECT id FROM changes
WHERE (feedback_id = ANY(%(ids)s) OR id IN (
    SELECT p.change_id FROM lesson_evidence e
    JOIN lesson_proposals p ON p.tenant_id = e.tenant_id AND p.key = e.key
    WHERE e.feedback_id = ANY(%(ids)s)))
  AND status IN ('held', 'stale') AND held <> '[]'
ORDER BY created_at, id

-- name: beside
-- Of others in the same conversation: their runs were told what was said before.
SELECT f.id, f.status, f.generation,
       ARRAY(SELECT c.id FROM candidates c WHERE c.feedback_id = f.id) AS candidate_ids
FROM feedback f
WHERE f.tenant_id = %(tenant_id)s AND f.id <> ALL(%(ids)s) AND NOT f.pruned
  AND EXISTS (
      SELECT FROM feedback s WHERE s.id = ANY(%(ids)s)
      AND (f.thread = s.thread OR f.in_reply_to IN (s.id, s.source_id)
           OR s.in_reply_to IN (f.id, f.source_id)))

-- name: in_work
SELECT 'feedback' AS kind, j.args ->> 'feedback_id' AS id FROM procrastinate_jobs j
WHERE j.status = 'doing' AND j.args ->> 'feedback_id' = ANY(%(ids)s)
UNION ALL
SELECT 'change', id FROM changes WHERE feedback_id = ANY(%(ids)s) AND status = 'applying'
LIMIT 1

-- name: changes
-- `is_gone`: the item no longer stands, or is for this person alone, and all that it was taught by
-- is theirs; `is_void`: the change itself was never made.
WITH lesson AS (
    SELECT DISTINCT p.item_id FROM lesson_evidence e
    JOIN lesson_proposals p ON p.tenant_id = e.tenant_id AND p.key = e.key
    WHERE e.tenant_id = %(tenant_id)s AND e.feedback_id = ANY(%(ids)s)
), own AS (
    SELECT kind, target_id FROM changes
    WHERE tenant_id = %(tenant_id)s AND feedback_id = ANY(%(ids)s)
    UNION
    SELECT kind, item_id FROM knowledge_versions
    WHERE tenant_id = %(tenant_id)s AND scope_user = %(author)s
    UNION
    SELECT 'MEMORY', item_id FROM lesson
), item AS (
    SELECT o.kind, o.target_id,
           EXISTS (SELECT FROM knowledge_versions v
                   WHERE v.tenant_id = %(tenant_id)s AND v.kind = o.kind
                     AND v.item_id = o.target_id AND v.scope_user = %(author)s)
           OR EXISTS (SELECT FROM lesson l WHERE l.item_id = o.target_id) AS is_personal,
           EXISTS (SELECT FROM knowledge_versions v
                   WHERE v.tenant_id = %(tenant_id)s AND v.kind = o.kind
                     AND v.item_id = o.target_id AND v.valid_to IS NULL)
           OR o.kind = 'AGENT_SKILLS'
           OR o.kind = 'SKILL' AND EXISTS (
                SELECT FROM search_documents d WHERE d.tenant_id = %(tenant_id)s
                AND d.kind = o.kind AND d.item_id = o.target_id) AS stands,
           EXISTS (SELECT FROM changes c
                   WHERE c.tenant_id = %(tenant_id)s AND c.kind = o.kind
                     AND c.target_id = o.target_id AND c.status IN ('applied', 'reverted')
                     AND c.reverts IS NULL AND c.retracts = '[]' AND c.operation <> 'DELETE'
                     AND (c.feedback_id IS NULL OR c.feedback_id <> ALL(%(ids)s))) AS by_others
    FROM own o
)
SELECT c.id, c.kind, c.target_id, c.target_name, c.status, c.feedback_id, i.stands,
       i.by_others, i.is_personal,
       i.is_personal OR NOT i.stands AND NOT i.by_others AS is_gone,
       coalesce(c.feedback_id = ANY(%(ids)s), false) AS is_own,
       c.status NOT IN ('applied', 'reverted') AS is_void
FROM item i JOIN changes c
  ON c.tenant_id = %(tenant_id)s AND c.kind = i.kind AND c.target_id = i.target_id
WHERE c.feedback_id = ANY(%(ids)s) OR i.is_personal OR NOT i.stands AND NOT i.by_others
ORDER BY c.created_at, c.id

-- name: on_record
-- Of these changes those with history: it may have gone out. `is_fresh`: it is emptied now; `is_told`:
-- others have been told, or are about to be.
SELECT c.id, c.kind, c.operation, c.target_id, c.agent_id, c.feedback_id,
       EXISTS (SELECT FROM history h WHERE h.change_id = c.id
               AND (h.feedback_content <> '[erased]'
                    OR c.id = ANY(%(empty)s) AND h.knowledge_name <> '[erased]')) AS is_fresh,
       EXISTS (SELECT FROM deliveries d
               WHERE d.change_id = c.id AND d.event = 'change.erased') AS is_told
FROM changes c
WHERE c.id = ANY(%(words)s) AND EXISTS (SELECT FROM history h WHERE h.change_id = c.id)
ORDER BY c.created_at, c.id

-- name: blobs
-- Of files of these changes, for seeing later which nobody needs.
SELECT DISTINCT f.value ->> 'sha256' AS sha256
FROM changes c
CROSS JOIN LATERAL (VALUES (c.before), (c.after), (c.proposed)) AS s (state)
CROSS JOIN LATERAL jsonb_each(CASE WHEN jsonb_typeof(s.state -> 'files') = 'object'
                                   THEN s.state -> 'files' ELSE '{}' END) AS f
WHERE c.id = ANY(%(empty)s)

-- name: drop_locks
DELETE FROM changes WHERE feedback_id = ANY(%(ids)s) AND status = 'prepared'

-- name: empty_feedback
-- As long as they are the person's; `digest` and `source_id` stay, so that a source that offers the
-- same piece again is told that it is known.
UPDATE feedback SET author = erased_author(tenant_id, %(author)s), content = '[erased]', task = '',
    events = '[]', output = NULL, thread = NULL, in_reply_to = NULL, said = NULL, trace = NULL,
    error = CASE WHEN error IS NOT NULL THEN '[erased]' END
WHERE id = ANY(%(ids)s) AND author = %(author)s

-- name: empty_candidates
UPDATE candidates SET content = '[erased]', intent_hint = '', said = NULL,
    verdict = CASE WHEN verdict IS NOT NULL THEN jsonb_build_object(
        'status', verdict -> 'status', 'reason', '[erased]', 'receipts', coalesce((
            SELECT jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
                'status', r -> 'status', 'message', '[erased]', 'change_id', r -> 'change_id',
                'kind', r -> 'kind', 'operation', r -> 'operation',
                'category', r -> 'category')))
            FROM jsonb_array_elements(verdict -> 'receipts') AS r), '[]')) END
WHERE feedback_id = ANY(%(ids)s) AND content <> '[erased]'

-- name: empty_words
-- What a change says of the words that led to it; what it does stays.
UPDATE changes SET feedback_content = '[erased]', candidate_content = '[erased]',
    reason = CASE WHEN reason <> '' THEN '[erased]' ELSE '' END,
    decision = CASE WHEN decision <> '' THEN '[erased]' ELSE '' END,
    error = CASE WHEN error IS NOT NULL THEN '[erased]' END,
    warnings = coalesce((SELECT jsonb_agg('[erased]'::text) FROM jsonb_array_elements(warnings)), '[]'),
    held = coalesce((SELECT jsonb_agg('[erased]'::text) FROM jsonb_array_elements(held)), '[]'),
    cases = '[]',
    request = CASE WHEN request ? 'reason' THEN jsonb_set(request - 'cases', '{reason}', '"[erased]"')
                   ELSE request END
WHERE id = ANY(%(words)s)
  AND (feedback_content <> '[erased]' OR reason NOT IN ('', '[erased]'))

-- name: empty_states
UPDATE changes SET
    target_name = CASE WHEN kind NOT IN ('DMN_RULE', 'SKILL', 'AGENT_SKILLS') OR id = ANY(%(gone)s) THEN '[erased]' ELSE target_name END,
    before = CASE WHEN before IS NOT NULL THEN %(state)s::jsonb END,
    after = CASE WHEN after IS NOT NULL THEN %(state)s::jsonb END,
    proposed = NULL, request = NULL,
    status = CASE WHEN status = 'applied' THEN 'reverted' ELSE status END
WHERE id = ANY(%(empty)s) AND (before <> %(state)s::jsonb OR after <> %(state)s::jsonb
                               OR proposed IS NOT NULL OR request IS NOT NULL)

-- name: drop_messages
DELETE FROM change_messages WHERE change_id = ANY(%(words)s)

-- name: drop_repeated
DELETE FROM echoes WHERE feedback_id = ANY(%(ids)s) AND units IS NOT NULL

-- name: empty_history
UPDATE history SET feedback_content = '[erased]',
    error = CASE WHEN error IS NOT NULL THEN '[erased]' END
WHERE change_id = ANY(%(words)s) AND feedback_content <> '[erased]'
RETURNING id

-- name: empty_past
UPDATE history SET knowledge_name = '[erased]',
    previous_content = CASE WHEN previous_content IS NOT NULL THEN '[erased]' END,
    new_content = CASE WHEN new_content IS NOT NULL THEN '[erased]' END,
    previous_files = NULL, new_files = NULL, previous_reach = NULL, new_reach = NULL
WHERE change_id = ANY(%(empty)s) AND knowledge_name <> '[erased]'
RETURNING id

-- name: end_items
UPDATE knowledge_versions v SET content = '[erased]', name = '[erased]', name_key = '[erased]',
    hash = '', same_key = '', valid_to = coalesce(valid_to, clock_timestamp()),
    scope_user = CASE WHEN scope_user IS NOT NULL THEN '[erased]' END
FROM unnest(%(kinds)s::text[], %(items)s::text[]) AS gone (kind, id)
WHERE v.tenant_id = %(tenant_id)s AND v.kind = gone.kind AND v.item_id = gone.id
  AND v.content <> '[erased]'

-- name: drop_uses
DELETE FROM uses u USING unnest(%(kinds)s::text[], %(items)s::text[]) AS gone (kind, id)
WHERE u.tenant_id = %(tenant_id)s AND u.kind = gone.kind AND u.item_id = gone.id

-- name: drop_documents
DELETE FROM search_documents d USING unnest(%(kinds)s::text[], %(items)s::text[]) AS gone (kind, id)
WHERE d.tenant_id = %(tenant_id)s AND d.kind = gone.kind AND d.item_id = gone.id

-- name: drop_events
-- Not that they were erased, which has no words.
DELETE FROM run_events WHERE change_id = ANY(%(words)s) AND name <> 'change.erased'

-- name: empty_deliveries
-- What has yet to go out goes out with what is left of its event; what hooks noted goes too.
UPDATE deliveries d SET
    payload = jsonb_set(d.payload, '{data}', kept.data)
        #- '{state,change,target_name}' #- '{state,change,held}' #- '{state,change,decided_by}',
    error = CASE WHEN d.error IS NOT NULL THEN '[erased]' END, said = NULL, answer = d.answer - 'note'
FROM deliveries o
CROSS JOIN LATERAL (
    SELECT coalesce(jsonb_object_agg(of.key, of.value), '{}') AS data
    FROM jsonb_each(o.payload -> 'data') AS of
    WHERE of.key IN ('kind', 'operation', 'target_id', 'agent_id', 'status', 'warnings', 'differs',
                     'waited_seconds', 'lesson')) kept
WHERE d.seq = o.seq AND (o.change_id = ANY(%(words)s) OR o.feedback_id = ANY(%(ids)s))
  AND (o.payload -> 'data' IS DISTINCT FROM kept.data OR o.error <> '[erased]' OR o.answer ? 'note'
       OR o.payload #> '{state,change}' ?| ARRAY['target_name', 'held', 'decided_by'])

-- name: empty_attempts
UPDATE delivery_attempts a SET error = '[erased]', said = NULL
FROM deliveries d
WHERE d.id = a.delivery_id AND (d.change_id = ANY(%(words)s) OR d.feedback_id = ANY(%(ids)s))
  AND a.error <> '[erased]'

-- name: drop_evidence
DELETE FROM lesson_evidence WHERE feedback_id = ANY(%(ids)s)

-- name: drop_answers
DELETE FROM idempotent_answers a
WHERE EXISTS (SELECT FROM unnest(%(all)s::text[]) AS known (id) WHERE strpos(a.body, known.id) > 0)

-- name: unname_changes
UPDATE changes SET decided_by = CASE WHEN decided_by = %(author)s THEN '[erased]' ELSE decided_by END,
    edited_by = CASE WHEN edited_by = %(author)s THEN '[erased]' ELSE edited_by END
WHERE tenant_id = %(tenant_id)s AND %(author)s IN (decided_by, edited_by)

-- name: unname_decisions
UPDATE decisions SET
    reason = CASE WHEN change_id = ANY(%(words)s) AND reason <> '' THEN '[erased]' ELSE reason END,
    decided_by = CASE WHEN decided_by = %(author)s THEN '[erased]' ELSE decided_by END
WHERE tenant_id = %(tenant_id)s
  AND (decided_by = %(author)s OR change_id = ANY(%(words)s) AND reason NOT IN ('', '[erased]'))
RETURNING id::text AS id

-- name: unname_calls
UPDATE calls SET caller = '[erased]', token_id = NULL
WHERE tenant_id = %(tenant_id)s AND caller = %(author)s

-- name: unname_events
UPDATE run_events SET
    data = CASE WHEN data ->> 'by' = %(author)s THEN jsonb_set(data, '{by}', '"[erased]"') ELSE data END,
    state = CASE WHEN state #>> '{change,decided_by}' = %(author)s
                 THEN jsonb_set(state, '{change,decided_by}', '"[erased]"') ELSE state END
WHERE tenant_id = %(tenant_id)s
  AND (data ->> 'by' = %(author)s OR state #>> '{change,decided_by}' = %(author)s)

-- name: unname_deliveries
UPDATE deliveries SET payload = jsonb_set(
    payload #- '{state,change,decided_by}', '{data}', (payload -> 'data') - 'by')
WHERE tenant_id = %(tenant_id)s
  AND (payload #>> '{data,by}' = %(author)s OR payload #>> '{state,change,decided_by}' = %(author)s)

-- name: empty_notes
-- Agents' words about tasks in which something was used that the person had taught, or that name them.
UPDATE outcomes o SET note = '[erased]'
WHERE o.tenant_id = %(tenant_id)s AND o.note NOT IN ('', '[erased]')
  AND (strpos(o.note, %(author)s) > 0 OR EXISTS (
      SELECT FROM outcome_items i JOIN changes c
        ON c.tenant_id = i.tenant_id AND c.target_id = i.item_id AND c.kind <> 'AGENT_SKILLS'
      WHERE i.outcome_id = o.id AND c.id = ANY(%(words)s)))

-- name: drop_cases
-- What they ask is made of the person's words, and of those of items that are gone.
DELETE FROM cases c
WHERE c.change_id = ANY(%(words)s)
   OR c.tenant_id = %(tenant_id)s AND EXISTS (
      SELECT FROM unnest(%(kinds)s::text[], %(items)s::text[]) AS gone (kind, id)
      WHERE c.kind = gone.kind AND c.item_id = gone.id)

-- name: unname_cases
UPDATE cases SET made_by = '[erased]' WHERE tenant_id = %(tenant_id)s AND made_by = %(author)s

-- name: unname_proposals
UPDATE proposals SET decided_by = '[erased]'
WHERE tenant_id = %(tenant_id)s AND decided_by = %(author)s

-- name: unname_tags
UPDATE run_tags SET tagged_by = '[erased]'
WHERE tenant_id = %(tenant_id)s AND tagged_by = %(author)s

-- name: unname_forks
UPDATE run_forks SET forked_by = '[erased]'
WHERE tenant_id = %(tenant_id)s AND forked_by = %(author)s

-- name: drop_blobs
-- Those of `hashes` that no state and no history of the tenant has any more.
WITH c AS (SELECT before, after, proposed, request FROM changes WHERE tenant_id = %(tenant_id)s),
h AS (SELECT previous_files, new_files FROM history WHERE tenant_id = %(tenant_id)s)
DELETE FROM blobs b
WHERE b.tenant_id = %(tenant_id)s AND b.sha256 = ANY(%(hashes)s) AND b.sha256 NOT IN (
    SELECT f.value ->> 'sha256'
    FROM (SELECT before AS state FROM c UNION ALL SELECT after FROM c
          UNION ALL SELECT proposed FROM c
          UNION ALL SELECT request -> 'published' FROM c WHERE request ? 'published'
          UNION ALL SELECT jsonb_build_object('files', previous_files) FROM h
          UNION ALL SELECT jsonb_build_object('files', new_files) FROM h) AS s
    CROSS JOIN LATERAL jsonb_each(CASE WHEN jsonb_typeof(s.state -> 'files') = 'object'
                                       THEN s.state -> 'files' ELSE '{}' END) AS f
    WHERE f.value ->> 'sha256' IS NOT NULL)

-- name: drop_salts
-- Of contents that are erased now; returns which those are. Without its salt a digest says nothing.
WITH hit AS (
    SELECT c.tenant_id, c.seq, c.kind, c.subject,
           ARRAY(SELECT key FROM jsonb_object_keys(c.salts) AS key
                 JOIN jsonb_each_text(CASE c.kind
                     WHEN 'history' THEN (SELECT audit_contents(h) FROM history h WHERE h.id = c.subject)
                     ELSE (SELECT audit_contents(d) FROM decisions d WHERE d.id::text = c.subject)
                     END) AS now USING (key)
                 WHERE now.value = '[erased]'
                 UNION
                 SELECT key FROM jsonb_object_keys(c.salts) AS key
                 WHERE c.kind = 'history' AND c.subject = ANY(%(past)s)
                   AND key IN ('previous_files', 'new_files', 'previous_reach', 'new_reach')
                 ) AS gone
    FROM audit_chain c
    WHERE c.kind = %(kind)s AND c.subject = ANY(%(subjects)s)
), dropped AS (
    UPDATE audit_chain c SET salts = c.salts - hit.gone
    FROM hit WHERE c.tenant_id = hit.tenant_id AND c.seq = hit.seq AND cardinality(hit.gone) > 0
)
SELECT kind, subject, gone FROM hit WHERE cardinality(gone) > 0

-- name: record
INSERT INTO erasures (id, tenant_id, author_digest, erased_by, covers)
VALUES (%(id)s, %(tenant_id)s, erased_author(%(tenant_id)s, %(author)s), %(by)s, %(covers)s)

-- name: tokens
SELECT name FROM access_tokens WHERE name = %(author)s AND kind = 'token' LIMIT 1
