-- Every row with a tenant's content says whose it is, so that row-level security can keep it apart.
-- The policies themselves are made after all migrations (core/adapters/postgres/tenants.py).

-- Whose row it is where whoever writes it does not say: in the name of all tenants, and workers of the
-- previous release.
CREATE FUNCTION tenant_of_key(key text) RETURNS text LANGUAGE sql STABLE
    RETURN coalesce(
        CASE WHEN starts_with(key, 'match:') THEN
            (SELECT f.tenant_id FROM feedback f WHERE f.id = split_part(key, ':', 2))
        ELSE
            (SELECT f.tenant_id FROM candidates c JOIN feedback f ON f.id = c.feedback_id
             WHERE c.id = split_part(key, ':', 1))
        END, '');
CREATE FUNCTION fill_tenant() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.tenant_id := coalesce(CASE TG_TABLE_NAME
        WHEN 'candidates' THEN
            (SELECT tenant_id FROM feedback WHERE id = to_jsonb(NEW) ->> 'feedback_id')
        WHEN 'change_messages' THEN
            (SELECT tenant_id FROM changes WHERE id = to_jsonb(NEW) ->> 'change_id')
        WHEN 'model_replies' THEN tenant_of_key(to_jsonb(NEW) ->> 'key')
        WHEN 'idempotent_answers' THEN
            (SELECT tenant_id FROM access_tokens WHERE id = to_jsonb(NEW) ->> 'owner')
        WHEN 'search_vectors' THEN
            (SELECT tenant_id FROM search_documents
             WHERE id = (to_jsonb(NEW) ->> 'document_id')::bigint)
        WHEN 'checkpoints' THEN tenant_of_key(to_jsonb(NEW) ->> 'thread_id')
        WHEN 'checkpoint_blobs' THEN tenant_of_key(to_jsonb(NEW) ->> 'thread_id')
        WHEN 'checkpoint_writes' THEN tenant_of_key(to_jsonb(NEW) ->> 'thread_id')
    END, '');
    RETURN NEW;
END $$;

ALTER TABLE candidates ADD COLUMN tenant_id text;
UPDATE candidates c SET tenant_id = f.tenant_id FROM feedback f WHERE f.id = c.feedback_id;
ALTER TABLE candidates ALTER tenant_id SET NOT NULL;
CREATE TRIGGER fill_tenant BEFORE INSERT ON candidates FOR EACH ROW
    WHEN (NEW.tenant_id IS NULL) EXECUTE FUNCTION fill_tenant();

ALTER TABLE change_messages ADD COLUMN tenant_id text;
UPDATE change_messages m SET tenant_id = coalesce(
    (SELECT c.tenant_id FROM changes c WHERE c.id = m.change_id), '');
ALTER TABLE change_messages ALTER tenant_id SET NOT NULL;
CREATE TRIGGER fill_tenant BEFORE INSERT ON change_messages FOR EACH ROW
    WHEN (NEW.tenant_id IS NULL) EXECUTE FUNCTION fill_tenant();

ALTER TABLE model_replies ADD COLUMN tenant_id text;
UPDATE model_replies SET tenant_id = tenant_of_key(key);
ALTER TABLE model_replies ALTER tenant_id SET NOT NULL;
CREATE TRIGGER fill_tenant BEFORE INSERT ON model_replies FOR EACH ROW
    WHEN (NEW.tenant_id IS NULL) EXECUTE FUNCTION fill_tenant();

ALTER TABLE idempotent_answers ADD COLUMN tenant_id text;
UPDATE idempotent_answers a SET tenant_id = coalesce(
    (SELECT t.tenant_id FROM access_tokens t WHERE t.id = a.owner), '');
ALTER TABLE idempotent_answers ALTER tenant_id SET NOT NULL;
CREATE TRIGGER fill_tenant BEFORE INSERT ON idempotent_answers FOR EACH ROW
    WHEN (NEW.tenant_id IS NULL) EXECUTE FUNCTION fill_tenant();

-- A file's content once for each tenant that has it: what one has is nothing that another could
-- ask for by its hash.
CREATE FUNCTION files_named(VARIADIC documents jsonb[]) RETURNS SETOF text LANGUAGE sql IMMUTABLE AS $$
    SELECT DISTINCT found #>> '{}'
    FROM unnest(documents) AS document, jsonb_path_query(document, 'lax $.**.sha256') AS found
$$;
ALTER TABLE blobs ADD COLUMN tenant_id text;
CREATE TABLE named AS
SELECT tenant_id, files_named(before, after, request, proposed) AS sha256 FROM changes
WHERE kind = 'SKILL'
UNION
SELECT tenant_id, files_named(previous_files, new_files) FROM history WHERE knowledge_type = 'SKILL';
ALTER TABLE blobs DROP CONSTRAINT blobs_pkey;
UPDATE blobs b SET tenant_id = coalesce(
    (SELECT min(n.tenant_id) FROM named n WHERE n.sha256 = b.sha256), '');
INSERT INTO blobs (sha256, data, tenant_id)
SELECT b.sha256, b.data, n.tenant_id FROM blobs b JOIN named n USING (sha256)
WHERE n.tenant_id <> b.tenant_id;
DROP TABLE named;
ALTER TABLE blobs ALTER tenant_id SET DEFAULT '', ADD PRIMARY KEY (sha256, tenant_id);

-- Workers of the previous release, which set no tenant, store a file before the change that has it.
CREATE FUNCTION adopt_files() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO blobs (sha256, data, tenant_id)
    SELECT b.sha256, b.data, NEW.tenant_id FROM blobs b
    WHERE b.tenant_id = '' AND b.sha256 IN (SELECT files_named(NEW.before, NEW.after))
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$;
CREATE TRIGGER adopt_files AFTER INSERT OR UPDATE ON changes FOR EACH ROW
    WHEN (NEW.kind = 'SKILL' AND current_setting('skill_worker.tenant', true) IS NULL)
    EXECUTE FUNCTION adopt_files();

-- While the document is there, so that it shows whose its postings are.
DROP TRIGGER search_documents_unposted ON search_documents;
DROP FUNCTION search_documents_unpost();
CREATE FUNCTION search_documents_unpost() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM search_postings WHERE term = ANY (OLD.keys) AND document_id = OLD.id;
    RETURN OLD;
END $$;
CREATE TRIGGER search_documents_unposted BEFORE DELETE ON search_documents
    FOR EACH ROW EXECUTE FUNCTION search_documents_unpost();
