-- name: act_for
SELECT set_config('skill_worker.tenant', %s, false), set_config(%s, %s, false)

-- name: has_role
-- Whether this session may take the role that sees all tenants, and that role has rights here.
SELECT coalesce((
    SELECT NOT me.rolsuper AND has_table_privilege(r.oid, to_regclass('feedback'), 'INSERT')
           AND CASE WHEN current_setting('server_version_num')::integer >= 160000
                    THEN pg_has_role(me.oid, r.oid, 'SET') END
    FROM pg_roles r, pg_roles me
    WHERE r.rolname = 'skill_worker_all' AND me.rolname = session_user), false)

-- name: threads
-- LangGraph's tables: its statements name their columns, so that the default fills this one.
DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['checkpoints', 'checkpoint_blobs', 'checkpoint_writes'] LOOP
        CONTINUE WHEN to_regclass(name) IS NULL OR EXISTS (
            SELECT FROM pg_attribute WHERE attrelid = to_regclass(name) AND attname = 'tenant_id');
        EXECUTE format('ALTER TABLE %I ADD COLUMN tenant_id text', name);
        EXECUTE format('UPDATE %I SET tenant_id = coalesce((SELECT c.tenant_id FROM candidates c
                        WHERE c.id = split_part(thread_id, '':'', 1)), '''')', name);
        EXECUTE format('ALTER TABLE %I ALTER tenant_id SET NOT NULL, ALTER tenant_id SET DEFAULT
                        nullif(current_setting(''skill_worker.tenant'', true), '''')', name);
        EXECUTE format('CREATE TRIGGER fill_tenant BEFORE INSERT ON %I FOR EACH ROW
                        WHEN (NEW.tenant_id IS NULL) EXECUTE FUNCTION fill_tenant()', name);
    END LOOP;
END $$

-- name: tables
-- Those that have a tenant's rows.
SELECT c.relname AS name
FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'tenant_id'
WHERE c.relkind IN ('r', 'p') AND c.relnamespace = current_schema()::regnamespace
  AND NOT a.attisdropped
ORDER BY 1

-- name: policies
SELECT policyname AS name FROM pg_policies
WHERE tablename = %(table)s AND schemaname = current_schema()

-- name: views
SELECT relname AS name FROM pg_class
WHERE relkind = 'v' AND relnamespace = current_schema()::regnamespace
  AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = pg_class.oid AND d.deptype = 'e')
ORDER BY 1

-- name: relations
SELECT relname AS name FROM pg_class
WHERE relkind IN ('r', 'p', 'v') AND relnamespace = current_schema()::regnamespace
  AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = pg_class.oid AND d.deptype = 'e')
ORDER BY 1

-- name: role
SELECT rolsuper, rolbypassrls, rolcreaterole FROM pg_roles WHERE rolname = %(name)s

-- name: me
SELECT current_user AS name, session_user AS login, current_schema() AS schema,
       current_setting('server_version_num')::integer >= 160000 AS has_set_option

-- name: bound
-- What keeps this session's role to one tenant: nothing, its own settings, or a role.
SELECT CASE WHEN me.rolsuper OR me.rolbypassrls THEN 'nothing'
            WHEN bool_or(pg_has_role(me.oid, c.relowner, 'MEMBER')) THEN 'owner' ELSE 'role' END AS by
FROM pg_roles me, pg_class c
WHERE me.rolname = session_user AND c.relforcerowsecurity
  AND c.relnamespace = current_schema()::regnamespace
GROUP BY me.oid, me.rolsuper, me.rolbypassrls

-- name: lacks_rights
-- Whether a worker's role could not do its work, or has more than it should.
SELECT NOT (pg_has_role(w.oid, r.oid, 'SET') AND NOT pg_has_role(w.oid, r.oid, 'USAGE')
            AND has_table_privilege(w.oid, to_regclass('feedback'), 'INSERT')
            AND has_table_privilege(r.oid, to_regclass('feedback'), 'INSERT')) AS lacks
FROM pg_roles w, pg_roles r WHERE w.rolname = %(name)s AND r.rolname = 'skill_worker_all'
