-- name: versions
SELECT 'skill-worker' AS component, version_num AS version FROM alembic_version
UNION ALL
SELECT component, version FROM component_versions;

-- name: record
INSERT INTO component_versions (component, version) VALUES (%(component)s, %(version)s)
ON CONFLICT DO NOTHING;

-- name: try_lock
SELECT pg_try_advisory_lock(hashtext('skill-worker'), hashtext('migrations')) AS held;

-- name: unlock
SELECT pg_advisory_unlock(hashtext('skill-worker'), hashtext('migrations'));

-- name: foreign_jobs
SELECT to_regclass('procrastinate_jobs') IS NOT NULL AS found;

-- name: probe_writes
SELECT probe_writes();
