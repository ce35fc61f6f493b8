-- What its target had no place for was stored as delivered with an error, which what was delivered
-- never has.
ALTER TABLE deliveries DROP CONSTRAINT deliveries_status_check,
    ADD CONSTRAINT deliveries_status_check
    CHECK (status IN ('waiting', 'delivered', 'skipped', 'failed', 'dead'));
UPDATE deliveries SET status = 'skipped' WHERE status = 'delivered' AND error IS NOT NULL;

-- What is counted for monitoring.
CREATE INDEX deliveries_by_status ON deliveries (target, status);

-- Who erases a person asks what went out about each of their changes.
CREATE INDEX deliveries_by_change ON deliveries (change_id);
