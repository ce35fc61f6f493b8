-- name: page
SELECT id, tenant_id, agent_id, kind, item_id, item_name, body, role, origin, status, note, said,
       change_id, feedback_id, made_by AS by, created_at, since, by_change, unrun_since, unrun_why
FROM live_cases
WHERE (created_at, id) < (%(at)s::timestamptz, %(id)s)
  AND (%(tenant_id)s::text IS NULL OR tenant_id = %(tenant_id)s)
  AND (%(agent_id)s::text IS NULL OR agent_id = %(agent_id)s)
  AND (%(kind)s::text IS NULL OR kind = %(kind)s)
  AND (%(item_id)s::text IS NULL OR item_id = %(item_id)s)
  AND (%(change_id)s::text IS NULL OR change_id = %(change_id)s)
  AND (%(check)s::text IS NULL OR body ->> 'check' = %(check)s)
  AND (%(status)s::text IS NULL OR status = %(status)s)
ORDER BY created_at DESC, id DESC LIMIT %(limit)s

-- name: get
-- Of any change: what was retired or taken back is still told.
SELECT c.id, c.tenant_id, c.agent_id, c.kind, c.item_id, coalesce(d.name, c.item_id) AS item_name,
       c.body, c.role, c.origin, c.status, c.note, c.said, c.change_id, c.feedback_id,
       c.made_by AS by, c.created_at, c.since, c.by_change, c.unrun_since, c.unrun_why
FROM cases c
LEFT JOIN search_documents d
    ON d.tenant_id = c.tenant_id AND d.kind = c.kind AND d.item_id = c.item_id
WHERE c.id = %(id)s

-- name: seen
-- The newest document by kind, of the agent and of what the tenant shares: later ones have appeared
-- since. Documents of one agent and kind are recorded one after another; the change's own does not
-- count.
SELECT ARRAY(
    SELECT coalesce((SELECT max(d.revision) FROM search_documents d
                     WHERE d.tenant_id = %(tenant_id)s AND d.kind = k.kind
                       AND d.agent_id = %(agent_id)s AND d.item_id <> %(item_id)s), 0)
    FROM unnest(%(kinds)s::text[]) WITH ORDINALITY AS k (kind, at) ORDER BY k.at)
    || ARRAY(
    SELECT coalesce((SELECT d.revision FROM search_documents d
                     WHERE d.tenant_id = %(tenant_id)s AND d.kind = k.kind
                       AND d.agent_id IS NULL AND d.item_id <> %(item_id)s
                     ORDER BY d.agent_id DESC, d.revision DESC LIMIT 1), 0)  -- as neighbours.newest
    FROM unnest(%(kinds)s::text[]) WITH ORDINALITY AS k (kind, at) ORDER BY k.at) AS seen

-- name: reach
-- Cases of the item itself first, then of skills that name it, then those that ask with words that
-- the change brings, most of them first. A change that is for all reaches all agents.
WITH found AS (
    SELECT c.id, 0 AS place, 0 AS shared
    FROM cases c
    WHERE c.tenant_id = %(tenant_id)s AND c.kind = %(kind)s AND c.item_id = %(item_id)s
      AND %(is_there)s
    UNION ALL
    SELECT c.id, 1, 0
    FROM search_postings p
    JOIN search_documents d ON d.id = p.document_id AND d.kind = 'SKILL'
    JOIN cases c ON c.tenant_id = %(tenant_id)s AND c.kind = 'SKILL' AND c.item_id = d.item_id
    WHERE %(named)s::text IS NOT NULL AND p.term = search_key(%(tenant_id)s, %(named)s)
      AND d.tenant_id = %(tenant_id)s AND d.item_id <> %(item_id)s
    UNION ALL
    SELECT c.id, 0, 0
    FROM cases c
    WHERE c.tenant_id = %(tenant_id)s AND c.kind = %(kind)s AND c.body ? 'of'
      AND c.body ->> 'of' = %(item_id)s
    UNION ALL
    SELECT w.case_id, 2, count(*)::integer
    FROM unnest(string_to_array(%(words)s, E'\n')) AS t (term)
    JOIN case_words w ON w.key = search_key(%(tenant_id)s, t.term)
    GROUP BY w.case_id
), best AS MATERIALIZED (
    -- Whether they are live is asked of the first alone: a common word is in thousands.
    SELECT f.id, min(f.place) AS place, max(f.shared) AS shared
    FROM found f JOIN cases c ON c.id = f.id
    WHERE c.tenant_id = %(tenant_id)s AND c.status <> 'disabled'
      AND (f.place < 2 OR %(is_for_all)s OR c.agent_id = %(agent_id)s)
      -- With less than half of the words nothing comes up before what has them. A derived question
      -- of which all are in the change does not tell the two apart. A task is told in many words.
      AND (f.place < 2 OR f.shared * 2 >= c.words AND (c.origin <> 'derived' OR f.shared < c.words
                                                       AND c.body ->> 'check' <> 'unsaid')
           OR c.body ->> 'check' = 'behaviour' AND f.shared * 4 >= c.words)
    GROUP BY f.id, c.created_at
    ORDER BY place, shared DESC, c.created_at DESC, f.id
    LIMIT %(limit)s * 10
)
SELECT c.id, c.tenant_id, c.agent_id, c.kind, c.item_id, c.item_name, c.body, c.role, c.origin,
       c.status, c.note, c.said, c.change_id, c.feedback_id, c.made_by AS by, c.created_at, c.since,
       c.by_change, c.unrun_since, c.unrun_why
FROM best b
JOIN live_cases c ON c.id = b.id
WHERE (%(is_there)s OR c.kind <> %(kind)s OR c.item_id <> %(item_id)s)
ORDER BY b.place, b.shared DESC, c.created_at DESC, c.id
LIMIT %(limit)s

-- name: put
WITH put AS (
    INSERT INTO cases (id, tenant_id, agent_id, kind, item_id, body, words, role, origin, status,
                       note, said, change_id, feedback_id, made_by, by_change, unrun_why, unrun_since)
    VALUES (%(id)s, %(tenant_id)s, %(agent_id)s, %(kind)s, %(item_id)s, %(body)s, %(words)s, %(role)s,
            %(origin)s, %(status)s, %(note)s, %(said)s, %(change_id)s, %(feedback_id)s, %(by)s,
            %(change_id)s, %(unrun_why)s, CASE WHEN %(unrun_why)s <> '' THEN clock_timestamp() END)
    ON CONFLICT (id) DO NOTHING
)
INSERT INTO case_words (key, case_id, tenant_id)
SELECT DISTINCT search_key(%(tenant_id)s, t.term), %(id)s, %(tenant_id)s
FROM unnest(string_to_array(%(asked)s, E'\n')) AS t (term)
ON CONFLICT DO NOTHING

-- name: put_words
INSERT INTO case_words (key, case_id, tenant_id)
SELECT DISTINCT search_key(%(tenant_id)s, t.term), %(id)s, %(tenant_id)s
FROM unnest(string_to_array(%(words)s, E'\n')) AS t (term)
ON CONFLICT DO NOTHING

-- name: retire
UPDATE cases SET retired_by = %(change_id)s WHERE tenant_id = %(tenant_id)s AND id = ANY(%(ids)s)

-- name: retire_item
-- An item that is created anew under its old id does not get back the cases of the one that ended.
UPDATE cases c SET retired_by = %(change_id)s
WHERE c.tenant_id = %(tenant_id)s AND c.kind = %(kind)s AND c.item_id = %(item_id)s
  AND (c.retired_by IS NULL OR NOT EXISTS (
      SELECT FROM changes r WHERE r.id = c.retired_by AND r.status = 'applied'))

-- name: add
-- Only to an item that is there.
INSERT INTO cases (id, tenant_id, agent_id, kind, item_id, body, words, role, origin, status, made_by)
SELECT %(id)s, d.tenant_id, %(agent_id)s, d.kind, d.item_id, %(body)s, %(words)s, %(role)s, 'person',
       'unproved', %(by)s
FROM search_documents d
WHERE d.tenant_id = %(tenant_id)s AND d.kind = %(kind)s AND d.item_id = %(item_id)s
RETURNING id

-- name: edit
UPDATE cases SET body = %(body)s, words = %(words)s, made_by = coalesce(%(by)s, made_by), status = 'unproved', note = '',
    said = NULL, since = clock_timestamp(), by_change = NULL, unrun_since = NULL, unrun_why = ''
WHERE id = %(id)s
RETURNING id

-- name: drop_words
DELETE FROM case_words WHERE case_id = %(id)s

-- name: disable
UPDATE cases SET status = 'disabled', note = %(reason)s, said = NULL,
    since = CASE WHEN status = 'disabled' THEN since ELSE clock_timestamp() END
WHERE id = %(id)s
RETURNING id

-- name: note
UPDATE cases c SET status = n.status, note = n.note, said = n.said, unrun_since = NULL, unrun_why = '',
    since = CASE WHEN c.status = n.status THEN c.since ELSE clock_timestamp() END,
    by_change = CASE WHEN c.status = n.status THEN c.by_change ELSE %(by_change)s END
FROM unnest(%(ids)s::text[], %(statuses)s::text[], %(notes)s::text[], %(said)s::jsonb[])
     AS n (id, status, note, said)
WHERE c.id = n.id AND c.status <> 'disabled'
  AND (c.status, c.note, c.unrun_why) <> (n.status, n.note, '')

-- name: note_unrun
-- It keeps what it came to before.
UPDATE cases c SET unrun_since = coalesce(c.unrun_since, clock_timestamp()), unrun_why = n.why,
    said = coalesce(c.said, '{}') || coalesce(n.said, '{}')
FROM unnest(%(ids)s::text[], %(whys)s::text[], %(said)s::jsonb[]) AS n (id, why, said)
WHERE c.id = n.id AND c.status <> 'disabled' AND c.unrun_why <> n.why

-- name: counts
SELECT c.tenant_id, c.kind, c.item_id, count(*) FILTER (WHERE c.status = 'green') AS green,
       count(*) FILTER (WHERE c.status = 'red') AS red,
       count(*) FILTER (WHERE c.status = 'unproved') AS unproved,
       count(*) FILTER (WHERE c.status = 'disabled') AS disabled
FROM (SELECT DISTINCT * FROM unnest(%(tenants)s::text[], %(kinds)s::text[], %(ids)s::text[])
          AS h (tenant_id, kind, item_id)) h
JOIN live_cases c ON c.tenant_id = h.tenant_id AND c.kind = h.kind AND c.item_id = h.item_id
GROUP BY c.tenant_id, c.kind, c.item_id
