-- `check`: something known, sealed with the store's key; a store without a key has none.
CREATE TABLE meta (name TEXT PRIMARY KEY, value BLOB NOT NULL) STRICT, WITHOUT ROWID;
