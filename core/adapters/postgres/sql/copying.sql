-- name: mark
SELECT pg_advisory_xact_lock_shared(hashtext('skill-worker'), hashtext('copying'));

-- name: is_free
-- 0 while the source holds its mark here: both are one database.
SELECT pg_try_advisory_xact_lock(hashtext('skill-worker'), hashtext('copying'))::integer

-- name: workers
SELECT count(*) FROM procrastinate_workers
WHERE last_heartbeat > now() - make_interval(secs => %(silent_after)s)

-- name: tables
-- Of the schema that the tables are in, not of extensions; without generated columns.
SELECT c.relname, array_agg(a.attname ORDER BY a.attnum), c.relforcerowsecurity
FROM pg_class c
JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
     AND a.attgenerated = ''
WHERE c.relkind = 'r' AND c.relnamespace = current_schema()::regnamespace
  AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.deptype = 'e')
GROUP BY c.oid ORDER BY c.relname

-- name: sees_all
SELECT (me.rolsuper OR me.rolbypassrls OR bool_and(pg_has_role(c.relowner, 'USAGE')))::integer
FROM pg_class c JOIN pg_roles me ON me.rolname = current_user
WHERE c.relkind = 'r' AND c.relforcerowsecurity AND c.relnamespace = current_schema()::regnamespace
GROUP BY me.rolsuper, me.rolbypassrls

-- name: references
SELECT c.relname, o.relname
FROM pg_constraint f
JOIN pg_class c ON c.oid = f.conrelid
JOIN pg_class o ON o.oid = f.confrelid
WHERE c.relnamespace = current_schema()::regnamespace AND c.oid <> o.oid

-- name: sequences
SELECT relname FROM pg_class
WHERE relkind = 'S' AND relnamespace = current_schema()::regnamespace ORDER BY relname

-- name: set_sequence
SELECT setval(quote_ident(%(name)s)::regclass, %(at)s, %(called)s)
