-- One schema holds one store. Texts of messages never reach the server: `contents.body` and `cache.value` are sealed
-- with a key each, which stands in `keys`, and `originals.words` holds keyed hashes of words.

CREATE TABLE meta (name text PRIMARY KEY, value bytea NOT NULL);

-- The secret that keys are derived from where the store has no key of its own: 488 bits of the server's randomness.
INSERT INTO meta (name, value) VALUES (
    'secret',
    sha256(convert_to(
        gen_random_uuid()::text || gen_random_uuid()::text || gen_random_uuid()::text || gen_random_uuid()::text,
        'UTF8'
    ))
);

CREATE TABLE sessions (
    key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id text COLLATE "C" NOT NULL UNIQUE,
    changed_at_ms bigint NOT NULL,
    -- The state of the session as JSON; empty only inside the transaction that opens it.
    state text NOT NULL
);

CREATE TABLE events (
    session bigint NOT NULL REFERENCES sessions,
    seq bigint NOT NULL,
    version integer NOT NULL,
    at_ms bigint NOT NULL,
    prev_hash bytea NOT NULL,
    hash bytea NOT NULL,
    kind text NOT NULL,
    -- Which transaction wrote it: a writer whose connection was lost while it committed looks for its own.
    written_by uuid NOT NULL,
    PRIMARY KEY (session, seq)
);

CREATE SEQUENCE sealed_id;

-- What opens a sealed value. A value is destroyed by destroying its row here.
CREATE TABLE keys (id bigint PRIMARY KEY, key bytea NOT NULL);

CREATE TABLE contents (
    key bigint PRIMARY KEY DEFAULT nextval('sealed_id'),
    address bytea NOT NULL UNIQUE,
    refs bigint NOT NULL,
    body bytea NOT NULL
);

-- A destroyed original or record has no content, and keeps its address.
CREATE TABLE originals (
    session bigint NOT NULL REFERENCES sessions,
    ordinal bigint NOT NULL,
    at_ms bigint NOT NULL,
    content bigint,
    address bytea,
    words bigint[],
    PRIMARY KEY (session, ordinal)
);
CREATE INDEX originals_words ON originals USING gin (words);

CREATE TABLE records (
    session bigint NOT NULL REFERENCES sessions,
    seq bigint NOT NULL,
    id text COLLATE "C" NOT NULL,
    content bigint,
    address bytea,
    PRIMARY KEY (session, seq)
);

CREATE TABLE aliases (alias text COLLATE "C" PRIMARY KEY, session text COLLATE "C" NOT NULL);
CREATE INDEX aliases_session ON aliases (session);

CREATE TABLE cache (
    address bytea PRIMARY KEY,
    key bigint NOT NULL DEFAULT nextval('sealed_id'),
    value bytea NOT NULL
);
