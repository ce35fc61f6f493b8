-- The agent whose own a token is; null: it is a person's or a program's.
ALTER TABLE access_tokens
    ADD COLUMN agent_id text,
    ADD CONSTRAINT agents_have_a_tenant CHECK (agent_id IS NULL OR tenant_id IS NOT NULL);
