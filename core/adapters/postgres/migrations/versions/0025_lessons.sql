-- What speaks for a lesson of the worker. The words themselves stay where they were said, and are read
-- there: who erases them there has erased them here. `refused` is why a piece does not count.
CREATE TABLE lesson_evidence (
    tenant_id     text NOT NULL,
    id            text NOT NULL,
    key           text NOT NULL,                -- of the lesson
    kind          text NOT NULL
                  CHECK (kind IN ('rejected', 'edited', 'retracted', 'overridden', 'recovered')),
    about         text NOT NULL,
    operation     text NOT NULL,
    change_id     text,
    feedback_id   text,
    candidate_id  text,
    at            timestamptz NOT NULL,
    refused       text,
    PRIMARY KEY (tenant_id, id)
);
CREATE INDEX lesson_evidence_by_key ON lesson_evidence (tenant_id, key, at);
CREATE INDEX lesson_evidence_by_feedback ON lesson_evidence (feedback_id);

-- Each time a lesson was proposed: the held change and the memory that it makes; without a change the
-- gate refused it.
CREATE TABLE lesson_proposals (
    tenant_id     text NOT NULL,
    key           text NOT NULL,
    ordinal       integer NOT NULL,
    change_id     text,
    item_id       text,
    refused       text,
    at            timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (tenant_id, key, ordinal)
);
CREATE INDEX lesson_proposals_by_item ON lesson_proposals (tenant_id, item_id);

-- Up to where events were looked through for evidence: nothing from before this release counts. No row:
-- from the beginning.
CREATE TABLE lesson_cursor (
    one           boolean PRIMARY KEY DEFAULT true CHECK (one),
    txid          bigint NOT NULL,
    id            bigint NOT NULL
);
INSERT INTO lesson_cursor (txid, id)
SELECT max(txid::text::bigint), max(id) FROM run_events HAVING count(*) > 0;
