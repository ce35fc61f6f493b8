-- Runs that people marked: they stay as long as a tag is on them. `run` is the id of a thread.
CREATE TABLE run_tags (
    tenant_id     text NOT NULL,
    feedback_id   text NOT NULL REFERENCES feedback (id) ON DELETE CASCADE,
    run           text NOT NULL,
    tag           text NOT NULL,
    tagged_at     timestamptz NOT NULL DEFAULT clock_timestamp(),
    tagged_by     text NOT NULL,
    PRIMARY KEY (run, tag)
);
CREATE INDEX run_tags_by_tag ON run_tags (tenant_id, tag);
CREATE INDEX run_tags_by_feedback ON run_tags (feedback_id);

-- Runs that begin with the first steps of another.
CREATE TABLE run_forks (
    tenant_id     text NOT NULL,
    feedback_id   text NOT NULL REFERENCES feedback (id) ON DELETE CASCADE,
    run           text PRIMARY KEY,
    from_run      text NOT NULL,
    step          integer NOT NULL CHECK (step > 0),
    forked_at     timestamptz NOT NULL DEFAULT clock_timestamp(),
    forked_by     text NOT NULL
);
CREATE INDEX run_forks_by_feedback ON run_forks (feedback_id);
