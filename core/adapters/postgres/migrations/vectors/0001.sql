-- The schema of semantic search; installed only if EMBEDDING_MODEL is set, after pgvector.

-- An embedding model that some worker uses, or used recently.
CREATE TABLE search_models (
    id            integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name          text NOT NULL UNIQUE,
    dimension     integer,                      -- unknown until it has made a vector
    noise         double precision NOT NULL DEFAULT 0,
    used_at       timestamptz NOT NULL DEFAULT clock_timestamp(),
    due_at        timestamptz NOT NULL DEFAULT clock_timestamp(), -- later while a worker embeds
    failures      integer NOT NULL DEFAULT 0,   -- consecutive, over all workers
    error         text NOT NULL DEFAULT ''
);

-- A narrow row for each document and model, all of which a search scans: the signs of the vector's
-- components select the few whose vectors are compared. With the vectors in these rows the scan
-- would be several times slower.
CREATE TABLE search_signs (
    document_id   bigint NOT NULL REFERENCES search_documents (id) ON DELETE CASCADE,
    model_id      integer NOT NULL REFERENCES search_models (id) ON DELETE CASCADE,
    tenant_id     text NOT NULL,
    kind          text NOT NULL,
    agent_id      text,
    revision      integer NOT NULL DEFAULT 1,
    signs         bit varying,                  -- NULL: to be embedded; empty: cannot be
    PRIMARY KEY (document_id, model_id)
);
CREATE INDEX search_signs_by_tenant ON search_signs (model_id, tenant_id);
CREATE INDEX search_signs_waiting ON search_signs (model_id, document_id) WHERE signs IS NULL;

CREATE TABLE search_vectors (
    document_id   bigint NOT NULL,
    model_id      integer NOT NULL,
    embedding     vector NOT NULL,
    PRIMARY KEY (document_id, model_id),
    FOREIGN KEY (document_id, model_id) REFERENCES search_signs ON DELETE CASCADE
);

-- Every transaction that changes knowledge writes the index: so none is missed.
CREATE FUNCTION search_documents_unembed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO search_signs AS s (document_id, model_id, tenant_id, kind, agent_id)
    SELECT NEW.id, m.id, NEW.tenant_id, NEW.kind, NEW.agent_id FROM search_models m
    ON CONFLICT (document_id, model_id) DO UPDATE
    SET agent_id = excluded.agent_id, revision = s.revision + 1, signs = NULL;
    RETURN NULL;
END $$;
CREATE TRIGGER search_documents_put AFTER INSERT ON search_documents
    FOR EACH ROW EXECUTE FUNCTION search_documents_unembed();
CREATE TRIGGER search_documents_changed AFTER UPDATE ON search_documents
    FOR EACH ROW
    WHEN ((OLD.name, OLD.content, OLD.agent_id) IS DISTINCT FROM (NEW.name, NEW.content, NEW.agent_id))
    EXECUTE FUNCTION search_documents_unembed();
