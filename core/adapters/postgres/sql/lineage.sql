-- name: made
-- Versions are numbered as written: numbering continues over deletion and re-creation. `place` and
-- `bytes` count from the newest.
SELECT * FROM (
    SELECT h.seq, h.operation, h.knowledge_name AS name, h.change_id, h.feedback_id,
           h.feedback_content AS feedback, h.knowledge_type AS kind,
           CASE WHEN h.operation <> 'DELETE' THEN coalesce(
               v.version, count(*) FILTER (WHERE h.operation <> 'DELETE') OVER in_order) END
               AS version,
           CASE WHEN %(max_bytes)s::bigint > 0 THEN h.previous_content END AS previous_content,
           CASE WHEN %(max_bytes)s::bigint > 0 THEN h.new_content END AS new_content,
           h.previous_files, h.new_files, h.status = 'reverted' AS takes_back,
           coalesce(v.valid_from, max(h.created_at) OVER in_order) AS valid_from,
           CASE WHEN v.change_id IS NOT NULL THEN v.valid_to
                WHEN lead(h.seq) OVER in_order IS NOT NULL
                THEN max(h.created_at)
                     OVER (in_order ROWS BETWEEN UNBOUNDED PRECEDING AND 1 FOLLOWING)
           END AS valid_to,
           c.origin, c.reason, c.relationship, c.reverts, c.edited_by, c.decided_by, c.decision,
           c.decided_at, f.author, f.created_at AS said_at,
           (SELECT m.said FROM change_messages m WHERE m.change_id = h.change_id) AS said,
           row_number() OVER backwards AS place,
           sum(coalesce(octet_length(h.previous_content), 0)
               + coalesce(octet_length(h.new_content), 0)) OVER backwards AS bytes
    FROM history h
    LEFT JOIN changes c ON c.id = h.change_id
    LEFT JOIN feedback f ON f.id = h.feedback_id AND f.tenant_id = h.tenant_id
    LEFT JOIN knowledge_versions v
        ON v.tenant_id = h.tenant_id AND v.kind = h.knowledge_type
        AND v.item_id = h.knowledge_id AND v.change_id = h.change_id
    WHERE h.tenant_id = %(tenant_id)s AND h.knowledge_type = %(kind)s
      AND h.knowledge_id = %(item_id)s AND h.status IN ('applied', 'reverted')
    WINDOW in_order AS (ORDER BY h.seq), backwards AS (ORDER BY h.seq DESC)
) made
WHERE place <= %(limit)s
  AND (place = 1 OR %(max_bytes)s::bigint = 0 OR bytes <= %(max_bytes)s::bigint)
ORDER BY seq

-- name: taught
SELECT * FROM (
    SELECT DISTINCT ON (h.feedback_id, h.knowledge_type, h.knowledge_id)
           h.seq, h.feedback_id, f.author, left(h.feedback_content, 300) AS words,
           h.knowledge_type AS kind, h.knowledge_id AS item_id, h.knowledge_name AS name,
           h.agent_id, h.operation, h.change_id, h.created_at AS at
    FROM history h
    JOIN changes c ON c.id = h.change_id AND c.status = 'applied'
    LEFT JOIN feedback f ON f.id = h.feedback_id AND f.tenant_id = h.tenant_id
    WHERE h.tenant_id = %(tenant_id)s AND h.status = 'applied' AND h.feedback_id IS NOT NULL
      AND (%(agent_id)s::text IS NULL OR h.agent_id = %(agent_id)s)
      AND CASE h.knowledge_type
          WHEN 'SKILL' THEN EXISTS (
              SELECT FROM search_documents d
              WHERE d.tenant_id = h.tenant_id AND d.kind = 'SKILL' AND d.item_id = h.knowledge_id)
          ELSE EXISTS (
              SELECT FROM knowledge_versions v
              WHERE v.tenant_id = h.tenant_id AND v.kind = h.knowledge_type
                AND v.item_id = h.knowledge_id AND v.valid_to IS NULL)
          END
    ORDER BY h.feedback_id, h.knowledge_type, h.knowledge_id, h.seq DESC
) taught
ORDER BY seq DESC
LIMIT %(limit)s

-- name: counts
SELECT agent_id, kind, count(*) AS count
FROM knowledge_versions
WHERE tenant_id = %(tenant_id)s AND valid_to IS NULL
GROUP BY agent_id, kind
ORDER BY agent_id, kind
