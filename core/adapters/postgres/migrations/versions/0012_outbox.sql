-- What goes out: written in the transaction of its event, in the order of `seq` for each target and
-- subject. `tenant_id` is '' for events of no tenant. The payload is the event with its state.
CREATE TABLE deliveries (
    seq           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id            text NOT NULL UNIQUE
                  DEFAULT 'dlv_' || replace(gen_random_uuid()::text, '-', ''),
    tenant_id     text NOT NULL,
    target        text NOT NULL,
    event         text NOT NULL,
    subject       text NOT NULL,
    once_key      text,
    feedback_id   text,
    change_id     text,
    payload       jsonb NOT NULL,
    status        text NOT NULL DEFAULT 'waiting'
                  CHECK (status IN ('waiting', 'delivered', 'failed', 'dead')),
    attempts      integer NOT NULL DEFAULT 0,
    created_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
    due_at        timestamptz NOT NULL DEFAULT to_timestamp(0),
    claimed_until timestamptz,
    ended_at      timestamptz,
    error         text,
    said          jsonb,
    answer        jsonb
);
CREATE INDEX deliveries_waiting ON deliveries (target, seq) WHERE status = 'waiting';
CREATE INDEX deliveries_by_subject ON deliveries (target, subject, seq) WHERE status = 'waiting';
CREATE UNIQUE INDEX deliveries_once ON deliveries (target, once_key) WHERE once_key IS NOT NULL;
CREATE INDEX deliveries_newest ON deliveries (created_at, id);
CREATE INDEX deliveries_by_tenant ON deliveries (tenant_id, created_at, id);
CREATE INDEX deliveries_by_feedback ON deliveries (feedback_id);

CREATE TABLE delivery_attempts (
    delivery_id text NOT NULL REFERENCES deliveries (id) ON DELETE CASCADE,
    ordinal     integer NOT NULL,
    tenant_id   text NOT NULL,
    at          timestamptz NOT NULL,
    status      text NOT NULL,
    seconds     double precision NOT NULL,
    error       text,
    said        jsonb,
    PRIMARY KEY (delivery_id, ordinal)
);

-- Targets that failed lately or want nothing any more; they belong to no tenant.
CREATE TABLE delivery_targets (
    name        text PRIMARY KEY,
    failures    integer NOT NULL DEFAULT 0,   -- in a row
    open_until  timestamptz,                  -- nothing is sent before
    disabled_at timestamptz,                  -- nothing is sent while its configuration is `digest`
    digest      text NOT NULL DEFAULT '',
    error       text,
    said        jsonb
);
