-- What reached agents: counters by item, version and day in UTC, no row for each use. `item_id` is ''
-- for uses of a process that had too many items waiting to tell them apart.
CREATE TABLE uses (
    tenant_id     text NOT NULL,
    agent_id      text NOT NULL,
    kind          text NOT NULL,
    item_id       text NOT NULL,
    version       integer NOT NULL,
    digest        text NOT NULL,
    way           text NOT NULL CHECK (way IN ('recalled', 'shown', 'decided', 'loaded')),
    day           date NOT NULL,
    times         bigint NOT NULL,
    first_at      timestamptz NOT NULL,
    last_at       timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, kind, item_id, agent_id, day, way, version, digest)
) WITH (fillfactor = 70);                       -- each flush of a day updates its rows
CREATE INDEX uses_by_day ON uses (tenant_id, day) INCLUDE (agent_id);

-- How tasks ended, as agents reported it; the note is the agent's words.
CREATE TABLE outcomes (
    id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant_id     text NOT NULL,
    agent_id      text NOT NULL,
    at            timestamptz NOT NULL,
    success       boolean NOT NULL,
    note          text NOT NULL DEFAULT ''
);
CREATE INDEX outcomes_by_agent ON outcomes (tenant_id, agent_id, at);
CREATE TABLE outcome_items (
    outcome_id    bigint NOT NULL REFERENCES outcomes (id) ON DELETE CASCADE,
    tenant_id     text NOT NULL,
    item_id       text NOT NULL,
    version       integer,                      -- NULL: the one that stood
    PRIMARY KEY (outcome_id, item_id)
);
CREATE INDEX outcome_items_by_item ON outcome_items (tenant_id, item_id);

-- Of items held out on trial: whether it was left out of a task that it matched. Until the outcome of
-- that is reported, an agent has one open row for an item.
CREATE TABLE holdout_arms (
    id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant_id     text NOT NULL,
    agent_id      text NOT NULL,
    item_id       text NOT NULL,
    at            timestamptz NOT NULL,
    left_out      boolean NOT NULL,
    outcome_id    bigint REFERENCES outcomes (id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX holdout_arms_open ON holdout_arms (tenant_id, agent_id, item_id)
    WHERE outcome_id IS NULL;
CREATE INDEX holdout_arms_by_item ON holdout_arms (tenant_id, item_id) WHERE outcome_id IS NOT NULL;
CREATE INDEX holdout_arms_by_outcome ON holdout_arms (outcome_id);

-- Feedback that is near what taught an item: said before the item was learnt, or after, before it
-- reached the agent or although it had.
CREATE TABLE complaints (
    tenant_id     text NOT NULL,
    agent_id      text NOT NULL,
    kind          text NOT NULL,
    item_id       text NOT NULL,
    feedback_id   text NOT NULL,
    said_at       timestamptz NOT NULL,
    came          text NOT NULL CHECK (came IN ('before', 'unreached', 'back')),
    PRIMARY KEY (tenant_id, kind, item_id, agent_id, feedback_id)
);
CREATE INDEX complaints_by_time ON complaints (tenant_id, said_at) WHERE came = 'back';

-- What a person is asked about an item; nothing is done before they say so.
CREATE TABLE proposals (
    id            text PRIMARY KEY DEFAULT 'prp_' || replace(gen_random_uuid()::text, '-', ''),
    tenant_id     text NOT NULL,
    agent_id      text NOT NULL,
    kind          text NOT NULL,
    item_id       text NOT NULL,
    action        text NOT NULL CHECK (action IN ('archive', 'rewrite')),
    status        text NOT NULL DEFAULT 'waiting'
                  CHECK (status IN ('waiting', 'accepted', 'dismissed')),
    created_at    timestamptz NOT NULL,
    decided_at    timestamptz,
    decided_by    text,
    change_id     text,                         -- what archived it
    feedback_id   text                          -- what asks for it to be rewritten
);
CREATE UNIQUE INDEX proposals_waiting ON proposals (tenant_id, kind, item_id, agent_id)
    WHERE status = 'waiting';
CREATE INDEX proposals_by_item ON proposals (tenant_id, kind, item_id, agent_id, decided_at);
