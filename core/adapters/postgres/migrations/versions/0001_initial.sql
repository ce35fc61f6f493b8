-- Feedback, runs, knowledge, changes, history, events and the search index.

CREATE TABLE agents (
    id          text PRIMARY KEY,
    tenant_id   text NOT NULL,
    name        text NOT NULL,
    role        text NOT NULL DEFAULT '',
    goal        text NOT NULL DEFAULT '',
    persona     text NOT NULL DEFAULT '',
    awaits_setup boolean NOT NULL DEFAULT false,  -- its first knowledge has not been requested yet
    created_at  timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX agents_by_tenant ON agents (tenant_id, id);
CREATE INDEX agents_awaiting_setup ON agents (id) WHERE awaits_setup;

CREATE TABLE agent_skills (
    agent_id    text NOT NULL REFERENCES agents (id) ON DELETE CASCADE,
    name        text NOT NULL,
    added_at    timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (agent_id, name)
);
CREATE INDEX agent_skills_by_name ON agent_skills (name);

CREATE TABLE tenant_skills (
    tenant_id   text NOT NULL,
    name        text NOT NULL,
    added_at    timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, name)
);

CREATE TABLE feedback (
    id            text PRIMARY KEY,
    source        text NOT NULL,
    source_id     text NOT NULL,
    digest        text NOT NULL,
    tenant_id     text NOT NULL,
    agent_ids     text[] NOT NULL,
    task          text NOT NULL DEFAULT '',
    content       text NOT NULL,
    author        text,
    events        jsonb NOT NULL DEFAULT '[]',
    status        text NOT NULL DEFAULT 'queued' CHECK (status IN (
        'queued', 'processing', 'completed', 'no_action', 'held', 'failed', 'dead', 'cancelled')),
    generation    integer NOT NULL DEFAULT 1,
    attempts      integer NOT NULL DEFAULT 0,
    epoch         bigint NOT NULL DEFAULT 0,
    error         text,
    model_calls   integer NOT NULL DEFAULT 0,
    input_tokens  bigint NOT NULL DEFAULT 0,
    output_tokens bigint NOT NULL DEFAULT 0,
    cost          numeric NOT NULL DEFAULT 0,
    job_id        bigint,
    turn          integer NOT NULL DEFAULT 0,   -- its position in the queue: the lowest is next
    retry_at      timestamptz,
    acknowledged  boolean NOT NULL DEFAULT false,
    pruned        boolean NOT NULL DEFAULT false, -- the data of its runs was deleted with age
    created_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
    finished_at   timestamptz,
    UNIQUE (source, source_id)
);
CREATE INDEX feedback_by_age ON feedback (created_at DESC, id DESC);
CREATE INDEX feedback_by_tenant ON feedback (tenant_id, created_at DESC, id DESC);
CREATE INDEX feedback_unfinished ON feedback (status, created_at)
    WHERE status IN ('queued', 'processing');
CREATE INDEX feedback_ended ON feedback (status)       -- counted when metrics are read
    WHERE status NOT IN ('queued', 'processing');
CREATE INDEX feedback_turns ON feedback (tenant_id, turn DESC) WHERE status = 'queued';
CREATE INDEX feedback_unacknowledged ON feedback (source, finished_at)
    WHERE NOT acknowledged AND status NOT IN ('queued', 'processing');
-- Counted for the overview: the present state, and what ended when.
CREATE INDEX feedback_by_status ON feedback (tenant_id, status, created_at);
CREATE INDEX feedback_finished ON feedback (finished_at) INCLUDE (tenant_id, status)
    WHERE finished_at IS NOT NULL;
CREATE INDEX feedback_unpruned ON feedback (finished_at)
    WHERE NOT pruned AND status NOT IN ('queued', 'processing');

CREATE TABLE candidates (
    id            text PRIMARY KEY,
    feedback_id   text NOT NULL REFERENCES feedback (id),
    agent_id      text NOT NULL,
    agent_name    text NOT NULL,
    position      integer NOT NULL,
    content       text NOT NULL,
    intent_hint   text NOT NULL DEFAULT '',
    generation    integer NOT NULL DEFAULT 1,
    epoch         bigint NOT NULL DEFAULT 0,
    verdict       jsonb,
    model_calls   integer NOT NULL DEFAULT 0,
    input_tokens  bigint NOT NULL DEFAULT 0,
    output_tokens bigint NOT NULL DEFAULT 0,
    cost          numeric NOT NULL DEFAULT 0,
    UNIQUE (feedback_id, position)
);

-- Model replies outside the ReAct thread: the first one stored under (key, ordinal) stays.
CREATE TABLE model_replies (
    key           text COLLATE "C" NOT NULL,
    ordinal       integer NOT NULL,
    reply         jsonb NOT NULL,
    model_calls   integer NOT NULL,
    input_tokens  bigint NOT NULL,
    output_tokens bigint NOT NULL,
    cost          numeric NOT NULL DEFAULT 0,
    created_at    timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (key, ordinal)
);

-- Each tenant's model usage per day in UTC, kept forever.
CREATE TABLE spending (
    tenant_id      text NOT NULL,
    day            date NOT NULL,
    model          text NOT NULL,
    model_calls    bigint NOT NULL,
    input_tokens   bigint NOT NULL,
    output_tokens  bigint NOT NULL,
    cost           numeric NOT NULL,
    unpriced_calls bigint NOT NULL,
    dearest        numeric NOT NULL,            -- its most expensive call: what the next may cost
    PRIMARY KEY (tenant_id, day, model)
) WITH (fillfactor = 50);                       -- each call of a day updates one row
CREATE INDEX spending_by_day ON spending (day);
-- The reservation of a running call, for tenants with a budget; an expired one is of a dead call.
CREATE TABLE reservations (
    id            text PRIMARY KEY,             -- of the candidate, or the key of its reply
    tenant_id     text NOT NULL,
    amount        numeric NOT NULL,
    expires_at    timestamptz NOT NULL
);
CREATE INDEX reservations_by_tenant ON reservations (tenant_id);

-- Memories and decision tables: an item is its versions; at most one of them is open.
CREATE TABLE knowledge_versions (
    item_id       text NOT NULL,
    version       integer NOT NULL,
    kind          text NOT NULL CHECK (kind IN ('MEMORY', 'DMN_RULE')),
    tenant_id     text NOT NULL,
    agent_id      text NOT NULL,
    name          text NOT NULL,
    name_key      text NOT NULL,
    content       text NOT NULL,
    hash          text NOT NULL,      -- SHA-256 of content, with which base_hash is compared
    same_key      text NOT NULL,      -- hash of the normalised content: finds exact duplicates
    relationship  text,
    change_id     text NOT NULL,
    feedback_id   text,
    valid_from    timestamptz NOT NULL DEFAULT clock_timestamp(),
    valid_to      timestamptz,
    PRIMARY KEY (tenant_id, kind, item_id, version)
);
CREATE UNIQUE INDEX knowledge_current ON knowledge_versions (tenant_id, kind, item_id)
    WHERE valid_to IS NULL;
CREATE UNIQUE INDEX knowledge_rule_name ON knowledge_versions (tenant_id, agent_id, name_key)
    WHERE valid_to IS NULL AND kind = 'DMN_RULE';
-- An agent knows a fact once, however often it is taught, even concurrently.
CREATE UNIQUE INDEX knowledge_same ON knowledge_versions (tenant_id, agent_id, same_key)
    WHERE valid_to IS NULL AND kind = 'MEMORY';
CREATE INDEX knowledge_by_tenant ON knowledge_versions (tenant_id, kind, valid_from DESC)
    WHERE valid_to IS NULL;

CREATE TABLE blobs (
    sha256        text PRIMARY KEY,
    data          bytea NOT NULL
);

CREATE TABLE changes (
    id               text PRIMARY KEY,
    key              text NOT NULL,
    digest           text NOT NULL,
    attempt          integer NOT NULL DEFAULT 1,
    tenant_id        text NOT NULL,
    agent_id         text NOT NULL,
    kind             text NOT NULL,
    target_id        text NOT NULL,
    target_name      text NOT NULL,
    operation        text NOT NULL,
    before           jsonb,
    after            jsonb,
    base_hash        text NOT NULL,
    status           text NOT NULL CHECK (status IN (
        'prepared', 'held', 'applying', 'applied', 'rejected', 'stale', 'failed', 'reverted')),
    reason           text NOT NULL DEFAULT '',
    merge_mode       text,
    relationship     text,
    feedback_id      text,
    feedback_content text NOT NULL DEFAULT '',
    candidate_id     text,
    epoch            bigint,
    warnings         jsonb NOT NULL DEFAULT '[]',
    reverts          text,
    seen             bigint,  -- the newest revision of a document it was compared with
    error            text,
    retracts         jsonb NOT NULL DEFAULT '[]',  -- the changes of the target it reverted
    origin           text NOT NULL DEFAULT 'AGENT',
    request          jsonb,   -- the original request, to prepare it again
    candidate_content text NOT NULL DEFAULT '',
    held             jsonb NOT NULL DEFAULT '[]',  -- why it waited for a person
    content_hash     text NOT NULL DEFAULT '',     -- of what it does: exactly that is approved
    edited_by        text,
    decided_by       text,
    decision         text NOT NULL DEFAULT '',
    decided_at       timestamptz,
    reminded_at      timestamptz,
    prepared_at      timestamptz NOT NULL DEFAULT clock_timestamp(),  -- moves when it is replaced
    created_at       timestamptz NOT NULL DEFAULT clock_timestamp(),
    applied_at       timestamptz,
    UNIQUE (key, attempt)
);
-- One change at a time has a target, from before it is prepared: a second one waits.
CREATE UNIQUE INDEX changes_open_target ON changes (tenant_id, kind, target_id)
    WHERE status IN ('prepared', 'applying');
CREATE INDEX changes_by_age ON changes (created_at DESC, id DESC);
CREATE INDEX changes_by_tenant ON changes (tenant_id, created_at DESC, id DESC);
CREATE INDEX changes_by_agent ON changes (agent_id, created_at DESC, id DESC);
CREATE INDEX changes_by_status ON changes (status, created_at DESC, id DESC)
    WHERE status <> 'applied';
CREATE INDEX changes_outcomes ON changes (created_at)
    INCLUDE (tenant_id, kind, operation, status);
CREATE INDEX changes_waiting ON changes (created_at, id)
    WHERE status IN ('held', 'stale') AND held <> '[]';
CREATE INDEX changes_by_feedback ON changes (feedback_id, created_at);
CREATE INDEX changes_by_candidate ON changes (candidate_id, created_at);
CREATE INDEX changes_by_target ON changes (target_id, kind, tenant_id, created_at);

-- Feedback that repeated what a target says: if the first is retracted, the item is left to it.
CREATE TABLE echoes (
    feedback_id      text NOT NULL,
    tenant_id        text NOT NULL,
    kind             text NOT NULL,
    target_id        text NOT NULL,
    hash             text NOT NULL,
    change_id        text,  -- the change that was held then, with the same content
    at               timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (tenant_id, kind, target_id, feedback_id, hash)
);
CREATE INDEX echoes_by_feedback ON echoes (feedback_id);
CREATE INDEX echoes_by_change ON echoes (change_id) WHERE change_id IS NOT NULL;

CREATE TABLE history (
    id               text PRIMARY KEY,
    seq              bigint GENERATED ALWAYS AS IDENTITY,  -- order of arrival
    knowledge_type   text NOT NULL,
    knowledge_id     text NOT NULL,
    knowledge_name   text NOT NULL,
    agent_id         text NOT NULL,
    tenant_id        text NOT NULL,
    operation        text NOT NULL,
    previous_content text,
    new_content      text,
    previous_files   jsonb,
    new_files        jsonb,
    feedback_content text NOT NULL,
    feedback_id      text,
    change_id        text NOT NULL,
    attempt          integer NOT NULL,
    status           text NOT NULL CHECK (status IN ('applied', 'failed', 'reverted')),
    error            text,
    created_at       timestamptz NOT NULL DEFAULT clock_timestamp(),
    UNIQUE (change_id, attempt, status)
);
CREATE INDEX history_by_age ON history (created_at DESC, id DESC);
CREATE INDEX history_by_tenant ON history (tenant_id, created_at DESC, id DESC);
CREATE INDEX history_by_agent ON history (agent_id, created_at DESC, id DESC);
CREATE INDEX history_by_feedback ON history (feedback_id);
CREATE INDEX history_by_item ON history (knowledge_id, knowledge_type, tenant_id, created_at);

-- The cost of a change: the skill author's calls, shared by all attempts under its key, and those of
-- its run, shared by all changes of that. The keys of the author's replies begin as defined in
-- core/agent/reply_keys.py; ';' follows ':', so that a range in the index finds them.
CREATE VIEW change_costs AS
SELECT c.id, jsonb_strip_nulls(jsonb_build_object(
    'authored_by', (SELECT count(*) FROM changes o WHERE o.key = c.key),
    'author', (
        SELECT jsonb_build_object(
            'model_calls', coalesce(sum(r.model_calls), 0),
            'input_tokens', coalesce(sum(r.input_tokens), 0),
            'output_tokens', coalesce(sum(r.output_tokens), 0),
            'cost', coalesce(sum(r.cost), 0)::text)
        FROM model_replies r
        WHERE r.key >= c.key || ':author' AND r.key < c.key || ':author;'),
    'shared_by', nullif((SELECT count(*) FROM changes o WHERE o.candidate_id = c.candidate_id), 0),
    'run', (
        SELECT jsonb_build_object(
            'model_calls', d.model_calls, 'input_tokens', d.input_tokens,
            'output_tokens', d.output_tokens, 'cost', d.cost::text)
        FROM candidates d WHERE d.id = c.candidate_id))) AS cost
FROM changes c;

-- The states that our own changes gave each skill, each with its period; one target has one change
-- at a time, so `seq` is their order. A change that reverts another is recorded as 'reverted'. A
-- DELETE ends the state before: it is a row of its own here and counts as no version.
CREATE VIEW skill_versions AS
SELECT h.knowledge_id AS item_id,
       count(*) FILTER (WHERE h.operation <> 'DELETE') OVER in_order AS version,
       h.knowledge_type AS kind, h.tenant_id, h.knowledge_name AS name, h.operation,
       h.new_content AS content, h.new_files AS files, c.relationship, h.change_id, h.feedback_id,
       max(h.created_at) OVER in_order AS valid_from,
       CASE WHEN lead(h.seq) OVER in_order IS NOT NULL
            THEN max(h.created_at) OVER (in_order ROWS BETWEEN UNBOUNDED PRECEDING AND 1 FOLLOWING)
       END AS valid_to
FROM history h
LEFT JOIN changes c ON c.id = h.change_id
WHERE h.knowledge_type = 'SKILL' AND h.status IN ('applied', 'reverted')
WINDOW in_order AS (PARTITION BY h.tenant_id, h.knowledge_id ORDER BY h.seq);

-- Their permanent order is (txid, id): ids are assigned before the commit, so a later one may become
-- visible before an earlier one. Nothing is added below the oldest open transaction.
CREATE TABLE run_events (
    id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    txid          xid8 NOT NULL DEFAULT pg_current_xact_id(),
    at            timestamptz NOT NULL DEFAULT clock_timestamp(),
    name          text NOT NULL,
    tenant_id     text,
    feedback_id   text,
    candidate_id  text,
    change_id     text,
    data          jsonb NOT NULL DEFAULT '{}',
    state         jsonb NOT NULL DEFAULT '{}'   -- the state of its subjects right after it
);
CREATE INDEX run_events_in_order ON run_events (txid, id);
CREATE INDEX run_events_by_tenant ON run_events (tenant_id, txid, id);
CREATE INDEX run_events_by_feedback ON run_events (feedback_id, txid, id);
-- The state of the feedback, candidate and change of an event. What the calling statement itself adds
-- to the candidate's cost is not visible to it, and is passed in.
CREATE FUNCTION event_state(
    feedback text, candidate text, change text, calls bigint DEFAULT 0, input bigint DEFAULT 0,
    output bigint DEFAULT 0, price numeric DEFAULT 0) RETURNS jsonb
    LANGUAGE sql STABLE
    RETURN jsonb_strip_nulls(jsonb_build_object(
        'feedback', (
            SELECT jsonb_build_object(
                'status', f.status, 'generation', f.generation, 'attempts', f.attempts,
                'usage', CASE WHEN f.finished_at IS NOT NULL THEN jsonb_build_object(
                    'model_calls', f.model_calls, 'input_tokens', f.input_tokens,
                    'output_tokens', f.output_tokens, 'cost', f.cost::text)
                ELSE (
                    SELECT jsonb_build_object(
                        'model_calls', coalesce(sum(s.model_calls), 0) + calls,
                        'input_tokens', coalesce(sum(s.input_tokens), 0) + input,
                        'output_tokens', coalesce(sum(s.output_tokens), 0) + output,
                        'cost', (coalesce(sum(s.cost), 0) + price)::text)
                    FROM (
                        SELECT c.model_calls, c.input_tokens, c.output_tokens, c.cost
                        FROM candidates c WHERE c.feedback_id = f.id
                        UNION ALL
                        SELECT r.model_calls, r.input_tokens, r.output_tokens, r.cost
                        FROM model_replies r
                        WHERE r.key >= 'match:' || f.id || ':' AND r.key < 'match:' || f.id || ';'
                        UNION ALL
                        SELECT r.model_calls, r.input_tokens, r.output_tokens, r.cost
                        FROM candidates c
                        JOIN model_replies r ON r.key >= c.id || ':' AND r.key < c.id || ';'
                        WHERE c.feedback_id = f.id) AS s)
                END)
            FROM feedback f WHERE f.id = feedback),
        'candidate', (
            SELECT jsonb_build_object('usage', jsonb_build_object(
                'model_calls', c.model_calls + calls, 'input_tokens', c.input_tokens + input,
                'output_tokens', c.output_tokens + output, 'cost', (c.cost + price)::text))
            FROM candidates c WHERE c.id = candidate),
        'change', (
            SELECT jsonb_build_object(
                'status', c.status, 'kind', c.kind, 'operation', c.operation,
                'target_id', c.target_id, 'target_name', c.target_name, 'held', c.held,
                'decided_by', c.decided_by)
            FROM changes c WHERE c.id = change)));

-- Who is behind the id of a job engine's worker, reported with each heartbeat.
CREATE TABLE worker_cards (
    id            bigint PRIMARY KEY,
    name          text NOT NULL,
    host          text NOT NULL,
    pid           integer NOT NULL,
    concurrency   integer NOT NULL,
    started_at    timestamptz NOT NULL
);

-- What all workers share about one model: circuit breaker and rate. No row: it is well.
CREATE TABLE model_lines (
    model         text PRIMARY KEY,
    failures      integer NOT NULL DEFAULT 0,   -- consecutive, over all workers
    open_since    timestamptz,                  -- since then no work starts
    probe_at      timestamptz,                  -- when one worker calls the model again
    fatal         boolean NOT NULL DEFAULT false, -- it will not pass by itself
    reason        text NOT NULL DEFAULT '',
    next_call_at  timestamptz NOT NULL DEFAULT '-infinity'  -- the first free slot of its rate
);
-- A slot of a model while a call runs; an expired one was a dead worker's.
CREATE TABLE model_permits (
    model         text NOT NULL,
    place         integer NOT NULL,             -- from 1 to the limit: so there are never more
    id            text NOT NULL,
    expires_at    timestamptz NOT NULL,
    PRIMARY KEY (model, place)
);

-- One row while a person has paused the intake.
CREATE TABLE intake_pause (
    one           boolean PRIMARY KEY DEFAULT true CHECK (one),
    reason        text NOT NULL DEFAULT '',
    since         timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- Who may call: secrets by their SHA-256, for programs, for one-time links to the console, and for
-- browser sessions. What derives from a token ends with it.
CREATE TABLE access_tokens (
    id            text PRIMARY KEY,
    kind          text NOT NULL CHECK (kind IN ('token', 'link', 'session')),
    hash          text NOT NULL UNIQUE,
    name          text NOT NULL,
    tenant_id     text,               -- null: all tenants
    roles         text[] NOT NULL,
    parent        text REFERENCES access_tokens (id) ON DELETE CASCADE,
    on_purpose    boolean NOT NULL DEFAULT true,  -- false: made at first start
    created_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
    expires_at    timestamptz
);
CREATE INDEX access_tokens_by_parent ON access_tokens (parent);
CREATE UNIQUE INDEX access_tokens_by_name ON access_tokens (name) WHERE kind = 'token';

-- Answers to calls with an idempotency key.
CREATE TABLE idempotent_answers (
    owner         text NOT NULL,      -- the token the call came with
    key           text NOT NULL,
    digest        text NOT NULL,      -- of method, path and body
    status        integer,            -- null while in progress
    body          text NOT NULL DEFAULT '',
    created_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (owner, key)
);
CREATE INDEX idempotent_answers_by_age ON idempotent_answers (created_at);

-- When each periodic task, which one of all workers does, ran last.
CREATE TABLE sweeps (
    name          text PRIMARY KEY,
    at            timestamptz NOT NULL
);

CREATE TABLE search_documents (
    id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    revision      bigserial,                    -- rises with each write
    tenant_id     text NOT NULL,
    kind          text NOT NULL,
    item_id       text NOT NULL,
    agent_id      text,
    name          text NOT NULL,
    content       text NOT NULL,
    files         text[] NOT NULL DEFAULT '{}',
    version       text NOT NULL DEFAULT '',
    UNIQUE (tenant_id, kind, item_id)
);
CREATE INDEX search_documents_by_age ON search_documents (tenant_id, id);
CREATE INDEX search_documents_by_owner ON search_documents (tenant_id, agent_id, kind, id);
CREATE INDEX search_documents_newest ON search_documents (tenant_id, kind, agent_id, revision);
-- A search reads hardly more than the index of the postings. `term` is a hash of tenant and term
-- (search_key), `agent` one of the agent's id, 0 for shared; `impact` is the term's part of BM25
-- before its weight, in ten thousandths. The column order avoids padding bytes.
CREATE TABLE search_postings (
    term          bigint NOT NULL,
    document_id   bigint NOT NULL REFERENCES search_documents (id) ON DELETE CASCADE,
    agent         integer NOT NULL,
    impact        smallint NOT NULL,
    kind          "char" NOT NULL,
    PRIMARY KEY (term, document_id) INCLUDE (agent, impact, kind)
);
-- All terms ever indexed, and words as written, marked: candidates for correcting typos.
CREATE TABLE search_vocabulary (term bigint NOT NULL);
CREATE INDEX search_vocabulary_by_term ON search_vocabulary (term);
CREATE FUNCTION search_key(tenant text, term text) RETURNS bigint
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN hashtextextended(term, hashtextextended(tenant, 0));
CREATE INDEX search_postings_by_document ON search_postings (document_id, term) INCLUDE (impact);

-- Versions of the schemas that libraries bring.
CREATE TABLE component_versions (
    component     text NOT NULL,
    version       text NOT NULL,
    applied_at    timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (component, version)
);
