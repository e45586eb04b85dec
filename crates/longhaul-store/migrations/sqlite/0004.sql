-- What was appended last, as frames (`sqlite/frame.rs`) in chunks of bytes that were set aside for them; a session's state
-- is then the fold of its last chunk's frames over that chunk's `state`. The key is session * 2^32 + the ordinal of the
-- chunk's first original, `seq` its first event, `state` the session's before that event. `body` stays last: it is what is large.
CREATE TABLE tail (key INTEGER PRIMARY KEY, seq INTEGER NOT NULL, state TEXT NOT NULL, body BLOB NOT NULL) STRICT;
