-- name: found
-- What matches a task, the best of each kind: as search.rank, but without a floor, and with what is
-- nearest in meaning (`meant`) beside what the rarest terms find. `owner & 3` is the kind. What is
-- over, and what is for others, is left out before the best are counted. Without `texts` they are
-- ranked only, skills by what they begin with too: their texts take as long to fetch as all else.
WITH asked AS MATERIALIZED (
    SELECT a.weight, a.floor, a.finds, search_key(%(tenant_id)s, a.term) AS key
    FROM unnest(string_to_array(%(terms)s, E'\n'),
                string_to_array(%(weights)s, E'\n')::float8[],
                string_to_array(%(floors)s, E'\n')::float8[],
                string_to_array(%(finds)s, E'\n')::boolean[])
         AS a (term, weight, floor, finds)
), scope AS MATERIALIZED (
    SELECT search_owner(%(agent_id)s, 'MEMORY') >> 2 AS agent,
           search_owner(NULL, 'MEMORY') >> 2 AS shared
), listed AS MATERIALIZED (
    SELECT d.id FROM search_documents d
    WHERE d.tenant_id = %(tenant_id)s AND d.kind = 'SKILL' AND d.item_id = ANY (%(skills)s)
), worded AS MATERIALIZED (
    SELECT p.document_id AS id, p.owner & 3 AS kind, sum(a.floor) AS floor,
           sum(a.weight * search_impact(p.shape, %(base)s::float8, %(slope)s::float8)) AS impact
    FROM asked a
    JOIN search_postings p ON p.term = a.key
    WHERE a.finds
      AND (p.owner >> 2 = (SELECT s.agent FROM scope s)
           OR p.owner >> 2 = (SELECT s.shared FROM scope s))
    GROUP BY p.document_id, p.owner & 3
), placed AS (
    SELECT w.id, w.floor, w.impact,
           row_number() OVER (PARTITION BY w.kind ORDER BY w.impact DESC, w.id) AS place
    FROM worded w
    WHERE w.kind <> 2 OR w.id IN (SELECT l.id FROM listed l)
), meant AS MATERIALIZED (
    SELECT d.id
    FROM unnest(string_to_array(%(kinds)s, E'\n'), string_to_array(%(ids)s, E'\n'))
         AS m (kind, item_id)
    JOIN search_documents d
        ON d.tenant_id = %(tenant_id)s AND d.kind = m.kind AND d.item_id = m.item_id
), found AS MATERIALIZED (
    SELECT p.id, p.floor, p.impact FROM placed p WHERE p.place <= %(depth)s
    UNION ALL
    SELECT m.id, coalesce(p.floor, 0), coalesce(p.impact, 0)
    FROM meant m
    LEFT JOIN placed p ON p.id = m.id
    WHERE p.place IS NULL OR p.place > %(depth)s
), rest AS MATERIALIZED (
    SELECT p.document_id AS id, sum(o.floor) AS floor,
           sum(o.weight * search_impact(p.shape, %(base)s::float8, %(slope)s::float8)) AS impact
    FROM asked o
    CROSS JOIN (SELECT array_agg(f.id ORDER BY f.id) AS ids FROM found f) f
    CROSS JOIN LATERAL (
        SELECT h.document_id, h.shape
        FROM search_postings h
        WHERE h.term = o.key AND h.document_id = ANY (f.ids)
        OFFSET 0
    ) p
    WHERE NOT o.finds
    GROUP BY p.document_id
), holding AS MATERIALIZED (
    SELECT d.id, d.kind, d.item_id, f.floor + coalesce(r.floor, 0) AS matched,
           f.impact + coalesce(r.impact, 0) AS score, v.version,
           row_number() OVER (PARTITION BY d.kind
                              ORDER BY f.impact + coalesce(r.impact, 0) DESC, d.id) AS place
    FROM found f
    JOIN search_documents d ON d.id = f.id
    LEFT JOIN rest r ON r.id = f.id
    LEFT JOIN LATERAL (
        SELECT v.version, v.valid_until, v.scope_user FROM knowledge_versions v
        WHERE v.tenant_id = d.tenant_id AND v.kind = d.kind AND v.item_id = d.item_id
          AND v.valid_to IS NULL
        OFFSET 0
    ) v ON d.kind <> 'SKILL'
    WHERE (d.agent_id IS NULL OR d.agent_id = %(agent_id)s)
      AND CASE WHEN d.kind = 'SKILL' THEN d.id IN (SELECT l.id FROM listed l)
          ELSE v.version IS NOT NULL AND coalesce(v.valid_until >= %(now)s, true)
               AND (v.scope_user IS NULL OR v.scope_user = %(user)s)
          END
)
SELECT h.kind, h.item_id, d.name, h.matched, h.score,
       coalesce(h.version, s.version, 1) AS version,
       CASE WHEN %(texts)s THEN coalesce(v.content, d.content)
            WHEN d.kind = 'SKILL' THEN left(d.content, 2000) ELSE '' END AS content
FROM holding h
JOIN search_documents d ON d.id = h.id
LEFT JOIN knowledge_versions v
    ON v.tenant_id = d.tenant_id AND v.kind = d.kind AND v.item_id = d.item_id
    AND v.version = h.version AND %(texts)s
LEFT JOIN LATERAL (
    SELECT s.version FROM skill_versions s
    WHERE s.tenant_id = d.tenant_id AND s.item_id = d.item_id AND s.valid_to IS NULL
      AND s.operation <> 'DELETE'
    OFFSET 0
) s ON d.kind = 'SKILL' AND %(texts)s
WHERE h.place <= %(limit)s OR h.id IN (SELECT m.id FROM meant m)
ORDER BY h.kind, h.score DESC, h.id
