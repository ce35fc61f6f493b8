-- How long and for whom a memory holds: until its last moment; for its agent, for all agents of the
-- tenant, or for one end user. What was known before is for its agent and has no end.
ALTER TABLE knowledge_versions
    ADD COLUMN valid_until timestamptz,
    ADD COLUMN scope text NOT NULL DEFAULT 'agent' CHECK (scope IN ('agent', 'tenant', 'user')),
    ADD COLUMN scope_user text,
    ADD CHECK ((scope = 'user') = (scope_user IS NOT NULL));

-- Each end user may have said the same.
DROP INDEX knowledge_same;
CREATE UNIQUE INDEX knowledge_same
    ON knowledge_versions (tenant_id, agent_id, coalesce(scope_user, ''), same_key)
    WHERE valid_to IS NULL AND kind = 'MEMORY';

ALTER TABLE history ADD COLUMN previous_reach jsonb, ADD COLUMN new_reach jsonb;
