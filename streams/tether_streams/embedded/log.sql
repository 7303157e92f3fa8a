-- The log of a data directory. Every statement may run again: what a crash left half made is completed.
BEGIN IMMEDIATE;

PRAGMA application_id = 1413829704; -- the letters TETH: whose file this is

CREATE TABLE IF NOT EXISTS schema_version (
    version INTEGER PRIMARY KEY -- the greatest row is the schema of this file
);

CREATE TABLE IF NOT EXISTS records (
    offset INTEGER PRIMARY KEY, -- one sequence over all topics; rows are never deleted, so none is used twice
    class TEXT NOT NULL, -- within which (namespace, source, id) is one record: ports.identity_class of the topic
    topic TEXT NOT NULL,
    partition INTEGER NOT NULL, -- always 0 here
    recorded_us INTEGER NOT NULL, -- microseconds since the epoch, never below that of a lower offset
    namespace TEXT, -- this and the next two NULL: as of the record that it is made of
    source TEXT,
    id TEXT,
    content_hash TEXT NOT NULL, -- what decides between duplicate and conflict
    made_of INTEGER, -- of facts: the offset of the raw record of the same identity, where it is known
    envelope BLOB NOT NULL, -- JSON: everything but the payload
    CHECK (made_of IS NOT NULL OR (namespace IS NOT NULL AND source IS NOT NULL AND id IS NOT NULL))
);

-- An identity is one record. Facts that say what they are made of have that record's, so one number tells it.
CREATE UNIQUE INDEX IF NOT EXISTS records_by_identity ON records (class, namespace, source, id) WHERE made_of IS NULL;
CREATE UNIQUE INDEX IF NOT EXISTS records_by_origin ON records (made_of, class) WHERE made_of IS NOT NULL;

CREATE INDEX IF NOT EXISTS records_by_topic ON records (topic); -- and, within one, by offset

CREATE TABLE IF NOT EXISTS payloads (
    offset INTEGER PRIMARY KEY, -- of its record; one without a row here lost its payload to a purge, or came as a ghost
    alg TEXT NOT NULL, -- how the bytes are encrypted: 'none'
    key_id TEXT NOT NULL, -- with which key: 'none'
    bytes BLOB NOT NULL -- JSON: the event's data
);

-- Payloads of old records that were moved into a file, each in a range of offsets of its own. A record of the range
-- that the file does not have lost its payload to a purge.
CREATE TABLE IF NOT EXISTS segments (
    first INTEGER PRIMARY KEY, -- the lowest offset of the range
    last INTEGER NOT NULL, -- the highest
    name TEXT NOT NULL, -- of the file
    size_bytes INTEGER NOT NULL
);

CREATE TABLE IF NOT EXISTS dead_letters (
    id INTEGER PRIMARY KEY, -- rows are never deleted, so none is used twice
    letter_key TEXT UNIQUE, -- given by callers that may add the same letter again; NULL: each is a letter of its own
    namespace TEXT, -- NULL: it does not say
    stage TEXT NOT NULL, -- which stage could not go on
    reason TEXT NOT NULL,
    recorded_us INTEGER NOT NULL,
    payload BLOB NOT NULL, -- the whole thing, as the caller bounds it
    replayed INTEGER NOT NULL DEFAULT 0 -- 1: put back into the pipeline
);

CREATE TRIGGER IF NOT EXISTS records_are_never_edited BEFORE UPDATE ON records
BEGIN
    SELECT raise(ABORT, 'records are never edited');
END;

CREATE TRIGGER IF NOT EXISTS records_are_never_deleted BEFORE DELETE ON records
BEGIN
    SELECT raise(ABORT, 'records are never deleted');
END;

INSERT INTO schema_version (version) VALUES (1) ON CONFLICT DO NOTHING;

COMMIT;
