-- Which sessions begin as a history does is asked by the contents of the first messages (`sqlite/begins.rs`).
CREATE INDEX originals_first ON originals (content) WHERE ordinal < 64;
-- A destroyed one is known by its address.
CREATE INDEX originals_gone ON originals (address) WHERE address IS NOT NULL;
-- Where a session comes from, for a fork: as the state says, for who looks for the forks of one.
ALTER TABLE sessions ADD COLUMN forked_from TEXT;
UPDATE sessions SET forked_from = json_extract(state, '$.forked_from.session') WHERE json_valid(state);
CREATE INDEX sessions_forks ON sessions (forked_from) WHERE forked_from IS NOT NULL;
