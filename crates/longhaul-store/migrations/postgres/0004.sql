-- What changed since the snapshot, written with each request: sealed as the secret of the store seals. Numbers and names, no
-- text. `since_hash` is of the bytes before they were sealed.
ALTER TABLE snapshots ADD COLUMN since bytea;
ALTER TABLE snapshots ADD COLUMN since_hash bytea;
