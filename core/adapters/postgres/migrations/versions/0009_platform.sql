-- Whether the database takes writes: a row is written and read, and a page of a table is new. A row
-- alone would find room on existing pages where the disk is full, and temporary tables alone can be
-- written to where all else is read-only. Raises what PostgreSQL says.
CREATE TABLE write_probes (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY);
CREATE FUNCTION probe_writes() RETURNS boolean LANGUAGE plpgsql
    SET temp_tablespaces = '' AS $$
DECLARE
    written bigint;
    is_there boolean;
BEGIN
    INSERT INTO write_probes DEFAULT VALUES RETURNING id INTO written;
    SELECT true INTO is_there FROM write_probes WHERE id = written;
    DELETE FROM write_probes WHERE id = written;
    IF has_database_privilege(current_database(), 'TEMPORARY') THEN
        IF to_regclass('pg_temp.write_probe') IS NULL THEN
            CREATE TEMPORARY TABLE write_probe (id bigint) ON COMMIT DELETE ROWS;
        END IF;
        INSERT INTO pg_temp.write_probe VALUES (written);
    END IF;
    RETURN coalesce(is_there, false);
END $$;

-- What workers of the previous release do until they are replaced. They fetch jobs from the queue
-- 'feedback' only, so that they take up nothing any more that they would override the order of
-- saying with, or fail at: they end what they have begun, and what they take in goes to workers of
-- this release. A database that is new has no jobs yet, and no such workers.
DO $$
BEGIN
    IF EXISTS (SELECT FROM component_versions WHERE component = 'procrastinate') THEN
        CREATE FUNCTION jobs_of_previous_release() RETURNS trigger LANGUAGE plpgsql AS $f$
        BEGIN
            NEW.queue_name := 'pieces';
            RETURN NEW;
        END $f$;
        CREATE TRIGGER jobs_of_previous_release BEFORE INSERT ON procrastinate_jobs
            FOR EACH ROW WHEN (NEW.queue_name = 'feedback')
            EXECUTE FUNCTION jobs_of_previous_release();
        UPDATE procrastinate_jobs SET queue_name = 'pieces' WHERE queue_name = 'feedback';
    END IF;
END $$;

-- They know an agent by its id alone, and save it ON CONFLICT (id): to them `agents` has the first
-- agent of each id, whose id is in `sole_id` as well.
ALTER TABLE agents RENAME TO agents_of_tenants;
ALTER TABLE agents_of_tenants ADD COLUMN sole_id text UNIQUE;
UPDATE agents_of_tenants a SET sole_id = id
WHERE tenant_id = (SELECT b.tenant_id FROM agents_of_tenants b
                   WHERE b.id = a.id ORDER BY b.created_at, b.tenant_id LIMIT 1);
CREATE FUNCTION agents_of_tenants_named() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.id IS NULL THEN  -- by the view
        NEW.id := NEW.sole_id;
        RETURN NEW;
    END IF;
    PERFORM pg_advisory_xact_lock(hashtext('skill-worker agent'), hashtext(NEW.id));
    IF NOT EXISTS (SELECT FROM agents_of_tenants WHERE sole_id = NEW.id) THEN
        NEW.sole_id := NEW.id;
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER agents_of_tenants_named BEFORE INSERT ON agents_of_tenants
    FOR EACH ROW EXECUTE FUNCTION agents_of_tenants_named();
CREATE VIEW agents AS
SELECT sole_id AS id, tenant_id, name, role, goal, persona, awaits_setup, created_at, xmax
FROM agents_of_tenants WHERE sole_id IS NOT NULL;
