-- Every history record, decision and erasure is an entry in its tenant's chain of digests. An entry
-- has `body`, a JSON object as it was digested, and the digest of the entry before and that body.
-- In `body`, contents are digests with a salt each, so that a content which is erased together with
-- its salt cannot be guessed from what stays, and the chain still verifies.
CREATE TABLE audit_chain (
    tenant_id     text NOT NULL,
    seq           bigint NOT NULL,           -- 1, 2, 3, … in the order of commit
    kind          text NOT NULL CHECK (kind IN ('history', 'decision', 'erasure')),
    subject       text NOT NULL,             -- the id of the row
    body          text NOT NULL,
    salts         jsonb NOT NULL DEFAULT '{}',
    digest        text NOT NULL,
    PRIMARY KEY (tenant_id, seq)
);
CREATE UNIQUE INDEX audit_chain_by_subject ON audit_chain (kind, subject);

-- The heads that were written to the log: a chain that is shorter or other than one of them was cut.
CREATE TABLE audit_heads (
    tenant_id     text NOT NULL,
    seq           bigint NOT NULL,
    digest        text NOT NULL,
    logged_at     timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (tenant_id, seq)
);

-- One row a decision: of a change itself only the last one is known.
CREATE TABLE decisions (
    id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant_id     text NOT NULL,
    change_id     text NOT NULL,
    verdict       text NOT NULL,             -- 'approved', 'replaced', or the status that it ended in
    decided_by    text,
    reason        text NOT NULL DEFAULT '',
    content_hash  text NOT NULL DEFAULT '',
    decided_at    timestamptz NOT NULL
);
CREATE INDEX decisions_by_change ON decisions (change_id);
CREATE INDEX decisions_by_person ON decisions (tenant_id, decided_by);

-- Whose words were erased, by a digest of the name; `covers` names the rows and their contents.
CREATE TABLE erasures (
    id            text PRIMARY KEY,
    tenant_id     text NOT NULL,
    author_digest text NOT NULL,
    erased_by     text NOT NULL,
    covers        jsonb NOT NULL DEFAULT '{}',
    created_at    timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX erasures_by_tenant ON erasures (tenant_id, created_at);

-- Under which name what an erased person said stays together, for an erasure that is repeated.
CREATE FUNCTION erased_author(tenant text, author text) RETURNS text LANGUAGE sql STABLE
    RETURN 'erased:' || left(encode(sha256(convert_to(tenant || E'\x1f' || author, 'UTF8')), 'hex'), 16);

-- Calls that change something or were refused, of the API, the console and the command line. The
-- tenant is '' where a call is of none, or of all. Equal refusals of one moment are one row.
CREATE TABLE calls (
    id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant_id     text NOT NULL,
    at            timestamptz NOT NULL,
    via           text NOT NULL CHECK (via IN ('api', 'console', 'cli')),
    caller        text NOT NULL,             -- the name of a token or a person; '' if unknown
    token_id      text,
    method        text NOT NULL,
    route         text NOT NULL,             -- its template: never an address as it was called
    ids           jsonb NOT NULL DEFAULT '{}',
    outcome       text NOT NULL,
    status        integer,
    times         integer NOT NULL DEFAULT 1
);
CREATE INDEX calls_by_age ON calls (at DESC, id DESC);
CREATE INDEX calls_by_tenant ON calls (tenant_id, at DESC, id DESC);

CREATE FUNCTION audit_time(at timestamptz) RETURNS text LANGUAGE sql STABLE
    RETURN to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"');
CREATE FUNCTION audit_digest(salt text, content text) RETURNS text LANGUAGE sql STABLE
    RETURN encode(sha256(convert_to(salt || content, 'UTF8')), 'hex');
CREATE FUNCTION audit_digests(contents jsonb, salts jsonb) RETURNS jsonb LANGUAGE sql STABLE
    RETURN coalesce((SELECT jsonb_object_agg(key, audit_digest(coalesce(salts ->> key, ''), value))
                     FROM jsonb_each_text(contents)), '{}');

-- What an entry says in clear of a row, and the contents that it says by their digests.
CREATE FUNCTION audit_facts(h history) RETURNS jsonb LANGUAGE sql STABLE
    RETURN jsonb_build_object(
        'kind', 'history', 'id', h.id, 'tenant_id', h.tenant_id, 'order', h.seq,
        'knowledge_type', h.knowledge_type, 'knowledge_id', h.knowledge_id,
        'agent_id', h.agent_id, 'operation', h.operation, 'feedback_id', h.feedback_id,
        'change_id', h.change_id, 'attempt', h.attempt, 'status', h.status,
        'said_at', audit_time(h.said_at), 'created_at', audit_time(h.created_at));
CREATE FUNCTION audit_contents(h history) RETURNS jsonb LANGUAGE sql STABLE
    RETURN jsonb_strip_nulls(jsonb_build_object(
        'knowledge_name', h.knowledge_name, 'previous_content', h.previous_content,
        'new_content', h.new_content, 'previous_files', h.previous_files::text,
        'new_files', h.new_files::text, 'previous_reach', h.previous_reach::text,
        'new_reach', h.new_reach::text, 'feedback_content', h.feedback_content,
        'error', h.error));
CREATE FUNCTION audit_facts(d decisions) RETURNS jsonb LANGUAGE sql STABLE
    RETURN jsonb_build_object(
        'kind', 'decision', 'id', d.id::text, 'tenant_id', d.tenant_id,
        'change_id', d.change_id, 'verdict', d.verdict, 'content_hash', d.content_hash,
        'decided_at', audit_time(d.decided_at));
CREATE FUNCTION audit_contents(d decisions) RETURNS jsonb LANGUAGE sql STABLE
    RETURN jsonb_strip_nulls(jsonb_build_object('decided_by', d.decided_by, 'reason', d.reason));
CREATE FUNCTION audit_facts(e erasures) RETURNS jsonb LANGUAGE sql STABLE
    RETURN jsonb_build_object(
        'kind', 'erasure', 'id', e.id, 'tenant_id', e.tenant_id,
        'author_digest', e.author_digest, 'covers', e.covers,
        'created_at', audit_time(e.created_at));
CREATE FUNCTION audit_contents(e erasures) RETURNS jsonb LANGUAGE sql STABLE
    RETURN jsonb_build_object('erased_by', e.erased_by);

-- The lock is one a tenant, taken last and held to the end of the transaction: without it chains
-- fork. The last entry is read behind it, by a statement of its own, and so with a new snapshot.
CREATE FUNCTION audit_append(tenant text, facts jsonb, contents jsonb) RETURNS void
    LANGUAGE plpgsql AS $$
DECLARE
    salted jsonb := coalesce((SELECT jsonb_object_agg(key, replace(gen_random_uuid()::text, '-', ''))
                              FROM jsonb_object_keys(contents) AS key), '{}');
    digests jsonb := audit_digests(contents, salted);
    before_it bigint;
    before_digest text;
    said text;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtext('skill-worker audit'), hashtext(tenant));
    SELECT seq, digest INTO before_it, before_digest
    FROM audit_chain WHERE tenant_id = tenant ORDER BY seq DESC LIMIT 1;
    said := (facts || jsonb_build_object('seq', coalesce(before_it, 0) + 1, 'digests', digests))::text;
    INSERT INTO audit_chain (tenant_id, seq, kind, subject, body, salts, digest)
    VALUES (tenant, coalesce(before_it, 0) + 1, facts ->> 'kind', facts ->> 'id', said, salted,
            audit_digest(coalesce(before_digest, repeat('0', 64)), said));
END $$;

CREATE FUNCTION audit_history() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM audit_append(NEW.tenant_id, audit_facts(NEW), audit_contents(NEW));
    RETURN NULL;
END $$;
CREATE FUNCTION audit_decision() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM audit_append(NEW.tenant_id, audit_facts(NEW), audit_contents(NEW));
    RETURN NULL;
END $$;
CREATE FUNCTION audit_erasure() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM audit_append(NEW.tenant_id, audit_facts(NEW), audit_contents(NEW));
    RETURN NULL;
END $$;

CREATE FUNCTION decisions_of_changes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO decisions (tenant_id, change_id, verdict, decided_by, reason, content_hash, decided_at)
    VALUES (NEW.tenant_id, NEW.id,
            CASE WHEN NEW.decided_at IS NULL THEN 'replaced'
                 WHEN NEW.status = 'applying' THEN 'approved' ELSE NEW.status END,
            CASE WHEN NEW.decided_at IS NULL THEN NEW.edited_by ELSE NEW.decided_by END,
            NEW.decision, NEW.content_hash, coalesce(NEW.decided_at, clock_timestamp()));
    RETURN NULL;
END $$;

-- What is there already, in the order in which it is chained (the script beside does that in parts).
INSERT INTO decisions (tenant_id, change_id, verdict, decided_by, reason, content_hash, decided_at)
SELECT tenant_id, id, CASE WHEN status IN ('applying', 'applied', 'failed', 'reverted', 'stale')
                           THEN 'approved' ELSE status END,
       decided_by, decision, content_hash, decided_at
FROM changes WHERE decided_at IS NOT NULL ORDER BY decided_at, id;
CREATE TABLE audit_backlog AS
SELECT row_number() OVER (ORDER BY tenant_id, at, place) AS place, kind, id
FROM (SELECT tenant_id, created_at AS at, seq AS place, 'history' AS kind, id FROM history
      UNION ALL
      SELECT tenant_id, decided_at, id, 'decision', id::text FROM decisions) AS known;
ALTER TABLE audit_backlog ADD PRIMARY KEY (place);
CREATE FUNCTION audit_chain_backlog(after bigint, most integer) RETURNS bigint
    LANGUAGE plpgsql AS $$
DECLARE
    one record;
    last bigint;
BEGIN
    FOR one IN SELECT b.place, b.kind, b.id FROM audit_backlog b
               WHERE b.place > after ORDER BY b.place LIMIT most LOOP
        IF one.kind = 'history' THEN
            PERFORM audit_append(h.tenant_id, audit_facts(h), audit_contents(h))
            FROM history h WHERE h.id = one.id;
        ELSE
            PERFORM audit_append(d.tenant_id, audit_facts(d), audit_contents(d))
            FROM decisions d WHERE d.id = one.id::bigint;
        END IF;
        last := one.place;
    END LOOP;
    RETURN last;
END $$;
