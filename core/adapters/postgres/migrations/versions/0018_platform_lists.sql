-- Lists of skills as they were when they were last compared with the platform's, so that it shows
-- who has changed what since. `agent_id` is '' for the tenant's list; `adding` and
-- `removing` is what is being written there, `coming` what is being brought back from there.
CREATE TABLE platform_lists (
    tenant_id text NOT NULL,
    agent_id  text NOT NULL,
    ours      text[] NOT NULL,
    theirs    text[] NOT NULL,
    "left"    text[] NOT NULL,
    adding    text[] NOT NULL,
    removing  text[] NOT NULL,
    coming    text[] NOT NULL,
    revision  bigint NOT NULL,
    PRIMARY KEY (tenant_id, agent_id)
);
