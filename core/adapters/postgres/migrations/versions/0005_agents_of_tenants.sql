-- An agent is (tenant, id). Workers of the previous release, which continue during this migration, know
-- an agent by its id alone: the trigger adds the tenant to what they list. What they cannot do is save
-- agents: their polls of a source that names agents fail until workers of this release repeat them.
ALTER TABLE agent_skills ADD COLUMN tenant_id text;
UPDATE agent_skills s SET tenant_id = a.tenant_id FROM agents a WHERE a.id = s.agent_id;
ALTER TABLE agent_skills DROP CONSTRAINT agent_skills_agent_id_fkey, DROP CONSTRAINT agent_skills_pkey;
ALTER TABLE agents DROP CONSTRAINT agents_pkey;
DROP INDEX agents_by_tenant;
ALTER TABLE agents ADD PRIMARY KEY (tenant_id, id);
CREATE INDEX agents_by_id ON agents (id);
DROP INDEX agent_skills_by_name;
ALTER TABLE agent_skills
    ADD PRIMARY KEY (tenant_id, agent_id, name),
    ADD FOREIGN KEY (tenant_id, agent_id) REFERENCES agents (tenant_id, id) ON DELETE CASCADE;
CREATE INDEX agent_skills_by_name ON agent_skills (tenant_id, name);

CREATE FUNCTION agent_skills_of_tenant() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.tenant_id IS NULL THEN
        SELECT tenant_id INTO NEW.tenant_id FROM agents
        WHERE id = NEW.agent_id ORDER BY created_at LIMIT 1;
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER agent_skills_of_tenant BEFORE INSERT ON agent_skills
    FOR EACH ROW EXECUTE FUNCTION agent_skills_of_tenant();

-- The lists that a skill was on when it was deleted: it is back on them once the deletion is undone.
CREATE TABLE skill_unlistings (
    tenant_id     text NOT NULL,
    name          text NOT NULL,
    agent_id      text NOT NULL,
    PRIMARY KEY (tenant_id, name, agent_id)
);
