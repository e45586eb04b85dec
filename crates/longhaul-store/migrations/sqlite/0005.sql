-- What is kept beside an original: how it was spelled on the wire. Destroyed with it; the address stays.
ALTER TABLE originals ADD COLUMN spelling INTEGER;
ALTER TABLE originals ADD COLUMN spelling_address BLOB;
-- What a session's writer needs to go on where it was, as of so many events; `hash` is of the bytes before they were packed.
CREATE TABLE snapshots (session INTEGER PRIMARY KEY, events INTEGER NOT NULL, hash BLOB NOT NULL, body BLOB NOT NULL) STRICT;
-- Which sessions hold a record is asked by its id alone.
CREATE INDEX records_id ON records (id);
