-- When feedback was said, what it answers and is about; the same time on each change. What was stored
-- before was said when it came in.
ALTER TABLE feedback
    ADD COLUMN said_at timestamptz,
    ADD COLUMN claimed_said_at timestamptz,  -- the source's time, where it was too late to be taken
    ADD COLUMN in_reply_to text,
    ADD COLUMN thread text,
    ADD COLUMN output jsonb,
    ADD COLUMN waits_for text;               -- the piece said earlier that is taken first
UPDATE feedback SET said_at = created_at;
ALTER TABLE feedback
    ALTER COLUMN said_at SET NOT NULL,
    ALTER COLUMN said_at SET DEFAULT clock_timestamp();
CREATE INDEX feedback_said_order ON feedback (tenant_id, said_at, created_at)
    WHERE status IN ('queued', 'processing');
CREATE INDEX feedback_no_action ON feedback (tenant_id, said_at) WHERE status = 'no_action';
CREATE INDEX feedback_waiting ON feedback (waits_for) WHERE waits_for IS NOT NULL;
CREATE INDEX feedback_by_thread ON feedback (tenant_id, thread, said_at) WHERE thread IS NOT NULL;

-- Changes are ordered by (said_at, heard_at): when it was said, then when it came in.
ALTER TABLE changes ADD COLUMN said_at timestamptz, ADD COLUMN heard_at timestamptz;
UPDATE changes c SET said_at = f.created_at, heard_at = f.created_at
FROM feedback f WHERE f.id = c.feedback_id AND c.origin = 'AGENT';
UPDATE changes SET said_at = created_at, heard_at = created_at WHERE said_at IS NULL;
ALTER TABLE changes
    ALTER COLUMN said_at SET NOT NULL, ALTER COLUMN said_at SET DEFAULT clock_timestamp(),
    ALTER COLUMN heard_at SET NOT NULL, ALTER COLUMN heard_at SET DEFAULT clock_timestamp();
CREATE INDEX changes_said_order ON changes (tenant_id, kind, said_at, heard_at)
    WHERE status IN ('applied', 'reverted');

-- What feedback repeated: null units are the whole target, else the parts of it that it stated.
ALTER TABLE echoes ADD COLUMN units jsonb;

ALTER TABLE history ADD COLUMN said_at timestamptz;
UPDATE history h SET said_at = c.said_at FROM changes c WHERE c.id = h.change_id;
