-- `sessions.state`, `events.kind`: JSON. `contents.body`: zstd where `is_packed`, else as it is. A destroyed original or
-- record has no content, and keeps its address. A content is destroyed with its last reference.
CREATE TABLE sessions (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    changed_at_ms INTEGER NOT NULL,
    state TEXT NOT NULL
) STRICT;
CREATE TABLE events (
    session INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    version INTEGER NOT NULL,
    at_ms INTEGER NOT NULL,
    prev_hash BLOB NOT NULL,
    hash BLOB NOT NULL,
    kind BLOB NOT NULL,
    PRIMARY KEY (session, seq)
) STRICT, WITHOUT ROWID;
CREATE TABLE contents (
    key INTEGER PRIMARY KEY,
    address BLOB NOT NULL UNIQUE,
    refs INTEGER NOT NULL,
    is_packed INTEGER NOT NULL,
    body BLOB NOT NULL
) STRICT;
CREATE TABLE originals (
    session INTEGER NOT NULL,
    ordinal INTEGER NOT NULL,
    at_ms INTEGER NOT NULL,
    content INTEGER,
    address BLOB,
    PRIMARY KEY (session, ordinal)
) STRICT, WITHOUT ROWID;
CREATE TABLE records (
    session INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    id TEXT NOT NULL,
    content INTEGER,
    address BLOB,
    PRIMARY KEY (session, seq)
) STRICT, WITHOUT ROWID;
CREATE TABLE aliases (alias TEXT PRIMARY KEY, session TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE cache (key BLOB PRIMARY KEY, value BLOB NOT NULL) STRICT, WITHOUT ROWID;
-- The words come from `longhaul_store::words`, in lower case and separated by spaces; the row is session * 2^32 + ordinal.
CREATE VIRTUAL TABLE words USING fts5(text, content='', contentless_delete=1, detail=none, tokenize='ascii');
