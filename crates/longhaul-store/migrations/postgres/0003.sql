-- Which sessions begin as a history does is asked by the contents of the first messages.
CREATE INDEX originals_first ON originals (content) WHERE ordinal < 64;
-- A destroyed one is known by its address.
CREATE INDEX originals_gone ON originals (address) WHERE address IS NOT NULL;
-- Where a session comes from, for a fork: as the state says, for who looks for the forks of one.
ALTER TABLE sessions ADD COLUMN forked_from text COLLATE "C";
UPDATE sessions SET forked_from = state::json -> 'forked_from' ->> 'session' WHERE state <> '';
CREATE INDEX sessions_forks ON sessions (forked_from) WHERE forked_from IS NOT NULL;
