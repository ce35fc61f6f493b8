-- `findings`: what the screen found in what a change adds. `masked`: what was taken out of a piece
-- of feedback before it was stored.
ALTER TABLE changes ADD COLUMN findings jsonb NOT NULL DEFAULT '[]';
ALTER TABLE feedback ADD COLUMN masked jsonb NOT NULL DEFAULT '[]';

-- Findings that a person of a tenant has allowed, by their digest.
CREATE TABLE allowed_findings (
    tenant_id text NOT NULL,
    digest text NOT NULL,
    code text NOT NULL,
    reason text NOT NULL,
    allowed_by text NOT NULL,
    change_id text NOT NULL,
    allowed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (tenant_id, digest)
);

-- Changes that wait because of what was found in them.
CREATE INDEX changes_held_by_screen ON changes (tenant_id)
    WHERE status IN ('held', 'stale') AND findings <> '[]';
