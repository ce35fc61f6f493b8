-- name: add
-- In the order of the key: two processes that write at once never wait for each other in a circle.
INSERT INTO uses AS u (tenant_id, agent_id, kind, item_id, version, digest, way, day, times,
                       first_at, last_at)
SELECT * FROM jsonb_to_recordset(%(counts)s) AS c (
    tenant_id text, agent_id text, kind text, item_id text, version integer, digest text,
    way text, day date, times bigint, first_at timestamptz, last_at timestamptz)
ORDER BY tenant_id, kind, item_id, agent_id, day, way, version, digest
ON CONFLICT (tenant_id, kind, item_id, agent_id, day, way, version, digest) DO UPDATE
SET times = u.times + excluded.times, first_at = least(u.first_at, excluded.first_at),
    last_at = greatest(u.last_at, excluded.last_at)

-- name: fold
-- The first day of all stands for no day. Rows are locked in the order of the key, as by `add`; one
-- that another process folds meanwhile is passed over.
WITH old AS (
    SELECT ctid FROM uses WHERE day < %(before)s AND day > date '0001-01-01'
    ORDER BY tenant_id, kind, item_id, agent_id, day, way, version, digest
    LIMIT %(limit)s FOR UPDATE SKIP LOCKED
), gone AS (
    DELETE FROM uses u USING old WHERE u.ctid = old.ctid RETURNING u.*
), summed AS (
    INSERT INTO uses AS u (tenant_id, agent_id, kind, item_id, version, digest, way, day, times,
                           first_at, last_at)
    SELECT tenant_id, agent_id, kind, item_id, version, digest, way, date '0001-01-01',
           sum(times), min(first_at), max(last_at)
    FROM gone GROUP BY tenant_id, agent_id, kind, item_id, version, digest, way
    ORDER BY tenant_id, kind, item_id, agent_id, way, version, digest
    ON CONFLICT (tenant_id, kind, item_id, agent_id, day, way, version, digest) DO UPDATE
    SET times = u.times + excluded.times, first_at = least(u.first_at, excluded.first_at),
        last_at = greatest(u.last_at, excluded.last_at)
)
SELECT count(*) AS folded FROM gone

-- name: draw
-- An open arm stands, and its time is that of the first look: so a task ends an hour after it began,
-- even of an agent that reports no outcome.
WITH drawn AS (
    INSERT INTO holdout_arms AS h (tenant_id, agent_id, item_id, at, left_out)
    SELECT * FROM jsonb_to_recordset(%(arms)s) AS a (
        tenant_id text, agent_id text, item_id text, at timestamptz, left_out boolean)
    ORDER BY tenant_id, agent_id, item_id
    ON CONFLICT (tenant_id, agent_id, item_id) WHERE outcome_id IS NULL
    DO UPDATE SET at = CASE WHEN h.at >= %(since)s THEN h.at ELSE excluded.at END,
        left_out = CASE WHEN h.at >= %(since)s THEN h.left_out ELSE excluded.left_out END
    RETURNING h.item_id, h.left_out
)
SELECT item_id FROM drawn WHERE left_out ORDER BY item_id

-- name: add_outcome
WITH told AS (
    INSERT INTO outcomes (tenant_id, agent_id, at, success, note)
    VALUES (%(tenant_id)s, %(agent_id)s, %(at)s, %(success)s, %(note)s) RETURNING id
), named AS (
    INSERT INTO outcome_items (outcome_id, tenant_id, item_id, version)
    SELECT DISTINCT ON (i.id) told.id, %(tenant_id)s, i.id, i.version
    FROM told, jsonb_to_recordset(%(used)s) AS i (id text, version integer)
    ORDER BY i.id, i.version DESC NULLS LAST
), closed AS (
    UPDATE holdout_arms a SET outcome_id = told.id FROM told
    WHERE a.tenant_id = %(tenant_id)s AND a.agent_id = %(agent_id)s AND a.outcome_id IS NULL
      AND a.at >= %(since)s AND a.at <= %(at)s
    RETURNING a.item_id, a.left_out
)
SELECT item_id FROM closed WHERE left_out ORDER BY item_id
