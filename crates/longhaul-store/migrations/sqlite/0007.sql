-- What changed since the snapshot, written with each request; `hash` is of the bytes before they were packed.
CREATE TABLE since (session INTEGER PRIMARY KEY, hash BLOB NOT NULL, body BLOB NOT NULL) STRICT;
