-- Contents that were written one after the other, compressed together: a third of the space.
CREATE TABLE blocks (key INTEGER PRIMARY KEY, body BLOB NOT NULL) STRICT;
-- In which block a content stands, and where; its own body is empty then.
ALTER TABLE contents ADD COLUMN block INTEGER;
ALTER TABLE contents ADD COLUMN start INTEGER;
ALTER TABLE contents ADD COLUMN length INTEGER;
CREATE INDEX contents_block ON contents (block) WHERE block IS NOT NULL;
-- Up to which ordinal originals stand in blocks and in the search index, and how many bytes wait to be put into a block.
ALTER TABLE sessions ADD COLUMN settled INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN indexed INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN loose INTEGER NOT NULL DEFAULT 0;
-- What an earlier version wrote was indexed at once, and stays where it stands.
UPDATE sessions SET
    settled = ifnull((SELECT max(ordinal) + 1 FROM originals WHERE originals.session = sessions.key), 0),
    indexed = ifnull((SELECT max(ordinal) + 1 FROM originals WHERE originals.session = sessions.key), 0);
CREATE INDEX sessions_loose ON sessions (key) WHERE loose > 0;
