-- What is kept beside an original: how it was spelled on the wire. Destroyed with it; the address stays.
ALTER TABLE originals ADD COLUMN spelling bigint;
ALTER TABLE originals ADD COLUMN spelling_address bytea;

-- What a session's writer needs to go on where it was, as of so many events; sealed, with its key in `keys`. `hash` is of
-- the bytes before they were sealed.
CREATE TABLE snapshots (
    session bigint PRIMARY KEY REFERENCES sessions,
    events bigint NOT NULL,
    hash bytea NOT NULL,
    key bigint NOT NULL DEFAULT nextval('sealed_id'),
    value bytea NOT NULL
);

CREATE INDEX records_id ON records (id);
