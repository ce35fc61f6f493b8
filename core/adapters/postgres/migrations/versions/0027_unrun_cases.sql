-- A case that cannot be run keeps what it came to before, and says since when and why.
ALTER TABLE cases ADD COLUMN unrun_since timestamptz;
ALTER TABLE cases ADD COLUMN unrun_why text NOT NULL DEFAULT '';

DROP VIEW live_cases;  -- as before, with the new columns
CREATE VIEW live_cases WITH (security_invoker = true) AS
SELECT c.*, d.name AS item_name
FROM cases c
JOIN search_documents d
    ON d.tenant_id = c.tenant_id AND d.kind = c.kind AND d.item_id = c.item_id
WHERE (c.change_id IS NULL OR EXISTS (
          SELECT FROM changes m WHERE m.id = c.change_id AND m.status = 'applied'))
  AND (c.retired_by IS NULL OR NOT EXISTS (
          SELECT FROM changes r WHERE r.id = c.retired_by AND r.status = 'applied'));
