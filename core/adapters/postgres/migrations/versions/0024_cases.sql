-- Cases: what must stay true of an item. `change_id` is the change it came with, NULL of one that a
-- person added; `retired_by` a change that took its place, or ended its item.
CREATE TABLE cases (
    id            text PRIMARY KEY,
    tenant_id     text NOT NULL,
    agent_id      text NOT NULL,
    kind          text NOT NULL,
    item_id       text NOT NULL,
    body          jsonb NOT NULL,
    words         integer NOT NULL DEFAULT 0,   -- how many it asks with
    role          text NOT NULL CHECK (role IN ('proof', 'regression')),
    origin        text NOT NULL CHECK (origin IN ('model', 'derived', 'person')),
    status        text NOT NULL CHECK (status IN ('green', 'red', 'unproved', 'disabled')),
    note          text NOT NULL DEFAULT '',
    said          jsonb,                        -- the message that `note` was written from
    change_id     text REFERENCES changes (id) ON DELETE CASCADE,
    feedback_id   text,
    made_by       text,
    created_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
    since         timestamptz NOT NULL DEFAULT clock_timestamp(),
    by_change     text,
    retired_by    text REFERENCES changes (id) ON DELETE SET NULL
);
CREATE INDEX cases_by_item ON cases (tenant_id, kind, item_id);
CREATE INDEX cases_newest ON cases (created_at DESC, id DESC);
CREATE INDEX cases_by_change ON cases (change_id);
CREATE INDEX cases_by_reliance ON cases (tenant_id, kind, (body ->> 'of')) WHERE body ? 'of';
CREATE INDEX cases_by_retirement ON cases (retired_by) WHERE retired_by IS NOT NULL;

-- The words that a case asks with, as keys of the search: by them a change finds the cases that it
-- may break. Not an array of the case: behind row-level security no index of arrays is used, since
-- its operators may tell what they compare.
CREATE TABLE case_words (
    key           bigint NOT NULL,
    case_id       text NOT NULL REFERENCES cases (id) ON DELETE CASCADE,
    tenant_id     text NOT NULL,
    PRIMARY KEY (key, case_id)
);
CREATE INDEX case_words_by_case ON case_words (case_id);

-- Live: the change it came with is in force, none that is in force has retired it, and its item is
-- there. A change that is taken back takes its cases along, and gives back what it had retired.
CREATE VIEW live_cases WITH (security_invoker = true) AS
SELECT c.*, d.name AS item_name
FROM cases c
JOIN search_documents d
    ON d.tenant_id = c.tenant_id AND d.kind = c.kind AND d.item_id = c.item_id
WHERE (c.change_id IS NULL OR EXISTS (
          SELECT FROM changes m WHERE m.id = c.change_id AND m.status = 'applied'))
  AND (c.retired_by IS NULL OR NOT EXISTS (
          SELECT FROM changes r WHERE r.id = c.retired_by AND r.status = 'applied'));

-- Of a change that waits: the cases that come with it, those that it retires, those that it breaks.
ALTER TABLE changes ADD COLUMN cases jsonb NOT NULL DEFAULT '[]';
ALTER TABLE changes ADD COLUMN retires jsonb NOT NULL DEFAULT '[]';
ALTER TABLE changes ADD COLUMN breaks jsonb NOT NULL DEFAULT '[]';

-- What the gate stopped, week by week.
CREATE INDEX run_events_of_cases ON run_events (at) WHERE name = 'case.broken';
