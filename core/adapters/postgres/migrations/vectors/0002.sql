-- A vector says as much as its text: it has the tenant of its document.
ALTER TABLE search_vectors ADD COLUMN tenant_id text;
UPDATE search_vectors v SET tenant_id = s.tenant_id FROM search_signs s
WHERE s.document_id = v.document_id AND s.model_id = v.model_id;
ALTER TABLE search_vectors ALTER tenant_id SET NOT NULL;
CREATE TRIGGER fill_tenant BEFORE INSERT ON search_vectors FOR EACH ROW
    WHEN (NEW.tenant_id IS NULL) EXECUTE FUNCTION fill_tenant();
