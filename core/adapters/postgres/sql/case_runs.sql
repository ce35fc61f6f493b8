-- name: items
-- What cases are about, as it stands in this transaction.
SELECT d.tenant_id, d.kind, d.item_id, d.agent_id, coalesce(v.content, d.content) AS content,
       v.scope_user AS user
FROM (SELECT DISTINCT * FROM unnest(%(tenants)s::text[], %(kinds)s::text[], %(ids)s::text[])
          AS h (tenant_id, kind, item_id)) h
JOIN search_documents d
    ON d.tenant_id = h.tenant_id AND d.kind = h.kind AND d.item_id = h.item_id
LEFT JOIN knowledge_versions v
    ON v.tenant_id = d.tenant_id AND v.kind = d.kind AND v.item_id = d.item_id AND v.valid_to IS NULL

-- name: shapes
-- The postings of the items of cases for the terms that each case asks with; `at` is the case's place.
SELECT t.at, jsonb_object_agg(t.term, p.shape) AS shapes
FROM unnest(%(at)s::integer[], %(kinds)s::text[], %(ids)s::text[]) AS h (at, kind, item_id)
JOIN search_documents d
    ON d.tenant_id = %(tenant_id)s AND d.kind = h.kind AND d.item_id = h.item_id
JOIN unnest(string_to_array(%(places)s, E'\n')::integer[], string_to_array(%(terms)s, E'\n'))
    AS t (at, term) ON t.at = h.at
CROSS JOIN LATERAL (
    SELECT p.shape FROM search_postings p
    WHERE p.term = search_key(%(tenant_id)s, t.term) AND p.document_id = d.id
    OFFSET 0
) p
GROUP BY t.at
