-- Postings by (term, document) alone, and a document's terms beside it: an index by document was
-- needed for deletions only, and cost a third of all. Count and length stand in a posting instead
-- of a part of BM25, so that the mean length may be the tenant's own.
DROP TABLE search_postings;
ALTER TABLE search_documents ADD COLUMN length integer NOT NULL DEFAULT 0;
ALTER TABLE search_documents ADD COLUMN keys bigint[] NOT NULL DEFAULT '{}';
DROP TABLE search_vocabulary;  -- a word is known if it has a posting

-- `term` is a hash of tenant and term (search_key), `owner` one of agent and kind (search_owner),
-- `shape` count and length (core/knowledge/search/ranking.py). The column order avoids padding
-- bytes: 40 bytes of the table and 24 of the index.
CREATE TABLE search_postings (
    term          bigint NOT NULL,
    document_id   integer NOT NULL,
    owner         smallint NOT NULL,
    shape         smallint NOT NULL
);  -- its primary key is made when all are in
CREATE FUNCTION search_owner(agent text, kind text) RETURNS smallint
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN (coalesce(1 + (hashtext(agent) & 2147483647) % 16383, 0) * 4
            + CASE kind WHEN 'MEMORY' THEN 0 WHEN 'DMN_RULE' THEN 1 WHEN 'SKILL' THEN 2 END
            - 32768)::smallint;
-- A term's part of BM25 before its weight, divided by K1 + 1.
CREATE FUNCTION search_impact(shape smallint, base double precision, slope double precision)
    RETURNS double precision LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN shape < 0 THEN
        (((shape + 32768) >> 11) + 1)
        / (((shape + 32768) >> 11) + 1 + base
           + slope * exp(((shape + 32768) & 2047) * 0.005756473898152941::float8))
    ELSE
        16 * exp(((shape >> 11) + 1) * 0.26236426446749106::float8)
        / (16 * exp(((shape >> 11) + 1) * 0.26236426446749106::float8) + base
           + slope * exp((shape & 2047) * 0.005756473898152941::float8))
    END;
CREATE FUNCTION search_documents_unpost() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM search_postings WHERE term = ANY (OLD.keys) AND document_id = OLD.id;
    RETURN NULL;
END $$;
CREATE TRIGGER search_documents_unposted AFTER DELETE ON search_documents
    FOR EACH ROW EXECUTE FUNCTION search_documents_unpost();

-- How many documents each tenant has, and their length: the sum of its rows. Writers add a row
-- instead of waiting for each other at one; now and then a writer folds those that nobody holds.
CREATE TABLE search_sizes (
    tenant_id     text NOT NULL,
    documents     bigint NOT NULL,
    length        bigint NOT NULL
);
CREATE INDEX search_sizes_by_tenant ON search_sizes (tenant_id);
CREATE FUNCTION search_sizes_fold(tenant text) RETURNS void LANGUAGE sql AS $$
    WITH gone AS (
        DELETE FROM search_sizes
        WHERE ctid = ANY (ARRAY(SELECT ctid FROM search_sizes WHERE tenant_id = tenant
                                FOR UPDATE SKIP LOCKED))
        RETURNING documents, length
    )
    INSERT INTO search_sizes
    SELECT tenant, sum(documents), sum(length) FROM gone HAVING count(*) > 0
$$;
CREATE FUNCTION search_documents_inserted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO search_sizes SELECT tenant_id, count(*), sum(length) FROM new_rows GROUP BY 1;
    PERFORM search_sizes_fold(tenant_id) FROM new_rows GROUP BY tenant_id HAVING max(id) % 64 = 0;
    RETURN NULL;
END $$;
CREATE FUNCTION search_documents_updated() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO search_sizes
    SELECT n.tenant_id, 0, sum(n.length - o.length)
    FROM new_rows n JOIN old_rows o ON o.id = n.id
    GROUP BY 1 HAVING sum(n.length - o.length) <> 0;
    PERFORM search_sizes_fold(tenant_id) FROM new_rows
    GROUP BY tenant_id HAVING max(revision) % 64 = 0;
    RETURN NULL;
END $$;
CREATE FUNCTION search_documents_deleted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO search_sizes SELECT tenant_id, -count(*), -sum(length) FROM old_rows GROUP BY 1;
    PERFORM search_sizes_fold(tenant_id) FROM old_rows GROUP BY tenant_id HAVING max(id) % 64 = 0;
    RETURN NULL;
END $$;
CREATE TRIGGER search_sizes_inserted AFTER INSERT ON search_documents
    REFERENCING NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION search_documents_inserted();
CREATE TRIGGER search_sizes_updated AFTER UPDATE ON search_documents
    REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION search_documents_updated();
CREATE TRIGGER search_sizes_deleted AFTER DELETE ON search_documents
    REFERENCING OLD TABLE AS old_rows
    FOR EACH STATEMENT EXECUTE FUNCTION search_documents_deleted();
