-- The tables of one view generation. Integers named ev, a, l, slot, node, adv come from one sequence (keys.py).
-- Rows are appended; what changes (belief, stances, what is down) stands in tables of its own, since an updated
-- column slows point reads for good.

CREATE TABLE meta (
    name  VARCHAR NOT NULL,
    value VARCHAR NOT NULL
);

CREATE TABLE evidence (
    ev           INTEGER NOT NULL,
    hi           BIGINT NOT NULL,   -- digest of (namespace, source, id)
    lo           BIGINT NOT NULL,
    namespace    VARCHAR NOT NULL,
    source       VARCHAR NOT NULL,
    id           VARCHAR NOT NULL,
    kind         VARCHAR NOT NULL,  -- transcript, tool_result, advisory, deletion, decision
    event_type   VARCHAR NOT NULL,
    time         VARCHAR NOT NULL,  -- RFC 3339, as the producer wrote it
    time_us      BIGINT NOT NULL,
    recorded_us  BIGINT NOT NULL,   -- the log's clock
    topic        VARCHAR NOT NULL,
    partition    INTEGER NOT NULL,
    position     BIGINT NOT NULL,   -- raw offset
    content_hash VARCHAR NOT NULL,  -- source version
    session_id   VARCHAR,
    seq          BIGINT,
    role         VARCHAR,
    tool         VARCHAR,
    call_id      VARCHAR,
    extractor    VARCHAR NOT NULL,
    rules        VARCHAR
);

CREATE TABLE node (
    node      INTEGER NOT NULL,
    hi        BIGINT NOT NULL,
    lo        BIGINT NOT NULL,
    kind      VARCHAR NOT NULL,     -- object, or assertion / evidence when named before it was recorded
    namespace VARCHAR NOT NULL,
    text      VARCHAR NOT NULL,
    source    VARCHAR,              -- of evidence
    base      VARCHAR,              -- of an object: its subject without the version
    version   VARCHAR
);

CREATE INDEX node_base ON node (base);

CREATE TABLE assertion (
    a                 INTEGER NOT NULL,
    hi                BIGINT NOT NULL,
    lo                BIGINT NOT NULL,
    ev                INTEGER NOT NULL,
    source            VARCHAR NOT NULL, -- of the evidence, as id and position
    id                VARCHAR NOT NULL,
    position          BIGINT NOT NULL,
    slot              INTEGER NOT NULL,
    place             INTEGER NOT NULL,
    assertion_id      VARCHAR NOT NULL,
    value             VARCHAR,      -- JSON; NULL when erased
    value_key         VARCHAR NOT NULL, -- digest of the canonical JSON, or true / false
    issuer            VARCHAR NOT NULL,
    issuer_key        VARCHAR NOT NULL, -- with its source, for succession
    mode              TINYINT NOT NULL,
    authority         TINYINT NOT NULL, -- after the policy's cap
    authority_claimed TINYINT NOT NULL,
    observed_us       BIGINT NOT NULL,
    observed_at       VARCHAR NOT NULL,
    valid_from        VARCHAR,
    valid_to          VARCHAR,
    expires_at        VARCHAR,
    review_at         VARCHAR,
    confidence        DOUBLE,
    sensitivity       VARCHAR,
    memory_type       VARCHAR,
    readers           VARCHAR,      -- JSON list; NULL: everyone of the namespace
    premises_complete BOOLEAN NOT NULL,
    original_text     VARCHAR,
    write_reason      VARCHAR,
    fit               BOOLEAN NOT NULL  -- false: its predicate's policy makes it impossible
);

CREATE TABLE premise (
    owner INTEGER NOT NULL,         -- a or l
    node  INTEGER NOT NULL,
    kind  TINYINT NOT NULL,         -- 0 object, 1 assertion, 2 evidence
    grade TINYINT NOT NULL          -- 0 stated, 1 possible
);

CREATE TABLE link (
    l         INTEGER NOT NULL,
    hi        BIGINT NOT NULL,
    lo        BIGINT NOT NULL,
    ev        INTEGER NOT NULL,
    place     INTEGER NOT NULL,
    link_id   VARCHAR NOT NULL,
    dependent INTEGER NOT NULL,
    kind      TINYINT NOT NULL,     -- of the dependent, as in premise
    grade     TINYINT NOT NULL
);

CREATE TABLE edge (
    dependent INTEGER NOT NULL,
    premise   INTEGER NOT NULL,
    via       INTEGER NOT NULL,     -- a or l that says so
    of        INTEGER NOT NULL,     -- a whose premise it is; 0: a link of an object
    flags     TINYINT NOT NULL      -- graph.py
);

CREATE TABLE memory (
    slot        INTEGER NOT NULL,
    hi          BIGINT NOT NULL,
    lo          BIGINT NOT NULL,
    namespace   VARCHAR NOT NULL,
    scope       VARCHAR NOT NULL,
    subject     VARCHAR NOT NULL,
    predicate   VARCHAR NOT NULL,
    many        VARCHAR,            -- of a many-valued predicate: digest of the value, else NULL
    verdict     BOOLEAN NOT NULL,
    rests       BOOLEAN NOT NULL,   -- its predicate rests on its subject
    object      INTEGER NOT NULL,   -- node of the subject
    status      VARCHAR NOT NULL,   -- without looking at support: current stands for held
    failed      BOOLEAN NOT NULL,   -- a false verdict is held
    a           INTEGER,            -- the statement shown
    assertion_id VARCHAR,
    value       VARCHAR,            -- JSON of the held value; NULL when erased
    source      VARCHAR,
    id          VARCHAR,
    support     INTEGER NOT NULL,   -- node that decides: down means withdrawn; 0: nothing can withdraw it
    single      BOOLEAN NOT NULL,   -- one plain statement: this row and `down` say all; else evaluate the statements
    complete    BOOLEAN NOT NULL,
    latest_us   BIGINT NOT NULL,    -- latest observation in the slot
    position    BIGINT NOT NULL
);

CREATE INDEX memory_slot ON memory (slot); -- a point read in 0.5 ms instead of 0.75, and steadier

CREATE TABLE advisory (
    adv         INTEGER NOT NULL,   -- one row a revision
    ev          INTEGER NOT NULL,
    namespace   VARCHAR NOT NULL,
    source      VARCHAR NOT NULL,
    id          VARCHAR NOT NULL,   -- of the evidence
    advisory_id VARCHAR NOT NULL,
    format      VARCHAR NOT NULL,
    modified_us BIGINT,             -- NULL: year 1
    time_us     BIGINT NOT NULL,
    withdrawn   VARCHAR,
    summary     VARCHAR,
    body        VARCHAR NOT NULL    -- the AdvisoryIssued fact, JSON
);

CREATE TABLE decision (ev INTEGER, namespace VARCHAR, source VARCHAR, id VARCHAR, time_us BIGINT, body VARCHAR);
CREATE TABLE deletion (ev INTEGER, namespace VARCHAR, source VARCHAR, id VARCHAR, time_us BIGINT, body VARCHAR);
CREATE TABLE policy (ev INTEGER, namespace VARCHAR, source VARCHAR, id VARCHAR, time_us BIGINT, body VARCHAR);

CREATE TABLE cause (                -- why an object is bad
    node      INTEGER NOT NULL,
    kind      VARCHAR NOT NULL,     -- advisory, revocation, failed, higher_version
    ref       INTEGER NOT NULL      -- adv, a, or node
);
CREATE TABLE stance (a INTEGER NOT NULL, stance VARCHAR NOT NULL);  -- where it is not standing
CREATE TABLE invalidated (id INTEGER NOT NULL);
CREATE TABLE ghost (id INTEGER NOT NULL);                           -- erased: assertions, evidence, payloads (negative)
CREATE TABLE down (node INTEGER NOT NULL);                          -- bad or reached
CREATE TABLE threatened (node INTEGER NOT NULL);                    -- reached only if possible premises count
CREATE TABLE support (slot INTEGER NOT NULL, node INTEGER NOT NULL); -- where several nodes support a slot
CREATE TABLE unresolved (adv INTEGER NOT NULL, node INTEGER NOT NULL, reason VARCHAR NOT NULL);
CREATE TABLE contested (            -- event ids claimed by two contents: which counts, and its rank
    namespace VARCHAR, source VARCHAR, id VARCHAR, content_hash VARCHAR,
    recorded_us BIGINT, topic VARCHAR, partition INTEGER, position BIGINT
);

CREATE TABLE change (               -- the live engine's outbox; never rebuilt
    seq      BIGINT NOT NULL,
    slot     INTEGER NOT NULL,
    kind     VARCHAR NOT NULL,
    status   VARCHAR NOT NULL,      -- served after it
    a        INTEGER NOT NULL,      -- the statement shown, or 0
    cause    VARCHAR NOT NULL,      -- kind of the root cause, or ''
    ref      INTEGER NOT NULL,      -- what it is by: adv, a or node; 0: none
    root     INTEGER NOT NULL,      -- the bad node; 0: none
    position BIGINT NOT NULL
);
CREATE TABLE slot_past (slot INTEGER, namespace VARCHAR, scope VARCHAR, subject VARCHAR, predicate VARCHAR);
CREATE TABLE applied (position BIGINT NOT NULL, recorded_us BIGINT NOT NULL); -- the greatest is where the view stands

CREATE VIEW memory_now AS
SELECT
    m.namespace, m.scope, m.subject, m.predicate,
    CASE WHEN m.status = 'current' AND (m.failed OR d.node IS NULL) THEN m.value END AS value,
    CASE WHEN m.status = 'current' AND NOT m.failed AND d.node IS NOT NULL THEN 'withdrawn' ELSE m.status END AS status,
    m.single, m.assertion_id, m.source, m.id, m.position
FROM memory AS m LEFT JOIN down AS d ON d.node = m.support;
