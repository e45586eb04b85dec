//! What is written: a decision and its events in one transaction, and what is destroyed with a tombstone.

use std::collections::{BTreeMap, HashMap};

use deadpool_postgres::Transaction;
use longhaul_transcript::{ContentHash, SessionId, Span, SummaryId};

use super::{
    client::{Patience, Server, WORKING},
    failure::Failure,
    read::{SINCE, clamp, hash, read_state},
};
use crate::{
    Change, Decide, Event, EventKind, Object, Sealed, StoreError, StoredSession, cache,
    pack::compress,
    seal::{SealedAlone, Sealer},
};

/// A commit whose answer did not arrive (yet).
struct Sent {
    /// What only this transaction wrote.
    token: String,
    /// The last event of it.
    seq: u64,
    /// The state after it.
    state: StoredSession,
    erased: bool,
}

/// Decides and writes.
pub(super) async fn transact(
    server: &Server,
    id: &SessionId,
    decide: Decide,
) -> Result<StoredSession, StoreError> {
    let mut patience = Patience::of(WORKING);
    let mut sent = None;
    let (state, erased) = loop {
        match attempt(server, id, &decide, &mut sent).await {
            Ok(done) => break done,
            Err(failure) if failure.is_passing() && patience.wait().await => {}
            Err(failure) if sent.is_some() => return Err(failure.unanswered()),
            Err(failure) => return Err(failure.told(WRITING)),
        }
    };
    if erased {
        scrub(server).await?;
    }
    Ok(state)
}

async fn attempt(
    server: &Server,
    id: &SessionId,
    decide: &Decide,
    sent: &mut Option<Sent>,
) -> Result<(StoredSession, bool), Failure> {
    let mut client = server.client().await?;
    let transaction = client.transaction().await?;
    let (key, mut state, token) = lock(&transaction, id).await?;
    // The lock is ours, so an earlier attempt has ended, one way or the other.
    if let Some(earlier) = sent {
        let query = "SELECT 1 FROM events WHERE session = $1 AND seq = $2 AND written_by = $3::text::uuid";
        let found = transaction.query_opt(query, &[&key, &clamp(earlier.seq), &earlier.token]).await?;
        if found.is_some() {
            return Ok((earlier.state.clone(), earlier.erased));
        }
        *sent = None;
    }
    let change = decide(&state)?;
    if change.on.is_some() {
        change.check(id, mark(&transaction, key).await?)?;
    }
    if change.is_empty() || state.events == 0 && change.steps.is_empty() {
        return Ok((state, false));
    }
    let sealed = Change::seal(change.steps, id, &mut state)?;
    let erased = sealed.iter().any(|sealed| matches!(sealed.event.kind, EventKind::Forgotten { .. }));
    for Sealed { event, objects } in &sealed {
        write_event(server, &transaction, (key, &token), event, objects).await?;
    }
    if erased {
        forget_cached(&transaction, id).await?;
        transaction.execute(NOTE, &[]).await?;
    }
    let json = serde_json::to_string(&state).expect("a state has string keys only");
    let update = "UPDATE sessions SET changed_at_ms = $2, state = $3, forked_from = $4 WHERE key = $1";
    let update = transaction.prepare_cached(update).await?;
    let parent = state.forked_from.as_ref().map(|from| from.session.as_str());
    transaction.execute(&update, &[&key, &state.changed_at_ms, &json, &parent]).await?;
    if let Some(snapshot) = &change.snapshot {
        self::snapshot(&server.sealer, &transaction, key, state.events, snapshot).await?;
    }
    if let Some(since) = &change.since {
        self::since(&server.sealer, &transaction, key, since).await?;
    }
    // What stands beside the log alone may be written again: it says the same.
    if !sealed.is_empty() {
        *sent = Some(Sent { token, seq: state.events - 1, state: state.clone(), erased });
    }
    transaction.commit().await?;
    Ok((state, erased))
}

/// Writes the snapshot of a session, in place of the one before it.
async fn snapshot(
    sealer: &Sealer,
    transaction: &Transaction<'_>,
    key: i64,
    events: u64,
    bytes: &[u8],
) -> Result<(), Failure> {
    const INSERT: &str =
        "WITH new AS (INSERT INTO keys (id, key) VALUES (nextval('sealed_id'), $5) RETURNING id)
        INSERT INTO snapshots (session, events, hash, key, value) SELECT $1, $2, $3, new.id, $4 FROM new";
    forget_snapshot(transaction, key).await?;
    let (sealed, hash) = (sealer.seal_alone(&compress(bytes)), ContentHash::of(bytes));
    transaction
        .execute(INSERT, &[&key, &clamp(events), &hash.0.as_slice(), &sealed.body, &sealed.key])
        .await?;
    Ok(())
}

/// Writes what changed since the snapshot, in place of what was written of that before.
async fn since(
    sealer: &Sealer,
    transaction: &Transaction<'_>,
    key: i64,
    bytes: &[u8],
) -> Result<(), Failure> {
    const UPDATE: &str = "UPDATE snapshots SET since = $2, since_hash = $3 WHERE session = $1";
    let (sealed, hash) = (sealer.seal(SINCE, &compress(bytes)), ContentHash::of(bytes));
    let update = transaction.prepare_cached(UPDATE).await?;
    transaction.execute(&update, &[&key, &sealed, &hash.0.as_slice()]).await?;
    Ok(())
}

/// Returns what tells whether the snapshot of a session is the one that a writer left.
async fn mark(transaction: &Transaction<'_>, key: i64) -> Result<Option<ContentHash>, Failure> {
    const QUERY: &str = "SELECT coalesce(since_hash, hash) FROM snapshots WHERE session = $1";
    let query = transaction.prepare_cached(QUERY).await?;
    let row = transaction.query_opt(&query, &[&key]).await?;
    Ok(row.and_then(|row| hash(row.get(0))))
}

/// Takes the snapshot of a session away, with its key.
async fn forget_snapshot(transaction: &Transaction<'_>, key: i64) -> Result<(), Failure> {
    const DELETE: &str = "WITH gone AS (DELETE FROM snapshots WHERE session = $1 RETURNING key)
        DELETE FROM keys USING gone WHERE keys.id = gone.key";
    transaction.execute(DELETE, &[&key]).await?;
    Ok(())
}

/// Locks a session against other writers until the transaction ends, and returns its key, its state, and a value that
/// nobody else has. A new session gets its row, which goes with the transaction where nothing is written.
async fn lock(
    transaction: &Transaction<'_>,
    id: &SessionId,
) -> Result<(i64, StoredSession, String), Failure> {
    let query = "SELECT key, state, gen_random_uuid()::text FROM sessions WHERE id = $1 FOR UPDATE";
    let query = transaction.prepare_cached(query).await?;
    let row = match transaction.query_opt(&query, &[&id.as_str()]).await? {
        Some(row) => row,
        None => {
            let insert = "INSERT INTO sessions (id, changed_at_ms, state) VALUES ($1, 0, '')
                          ON CONFLICT (id) DO NOTHING";
            transaction.execute(insert, &[&id.as_str()]).await?;
            transaction.query_one(&query, &[&id.as_str()]).await?
        }
    };
    let state: &str = row.get(1);
    let state = if state.is_empty() { StoredSession::empty() } else { read_state(id, state)? };
    Ok((row.get(0), state, row.get(2)))
}

async fn write_event(
    server: &Server,
    transaction: &Transaction<'_>,
    (key, token): (i64, &String),
    event: &Event,
    objects: &[Option<Object>],
) -> Result<(), Failure> {
    let kind = serde_json::to_string(&event.kind).expect("an event kind has string keys only");
    let insert = "INSERT INTO events (session, seq, version, at_ms, prev_hash, hash, kind, written_by)
                  VALUES ($1, $2, $3, $4, $5, $6, $7, $8::text::uuid)";
    let insert = transaction.prepare_cached(insert).await?;
    let (version, prev_hash, hash) =
        (event.version as i32, event.prev_hash.0.as_slice(), event.hash.0.as_slice());
    transaction
        .execute(&insert, &[&key, &clamp(event.seq), &version, &event.at_ms, &prev_hash, &hash, &kind, token])
        .await?;
    match &event.kind {
        EventKind::Originals { start, addresses, spellings } => {
            let (objects, beside) = objects.split_at(addresses.len().min(objects.len()));
            let mut beside = beside.iter();
            let beside: Vec<Beside<'_>> = (0..addresses.len())
                .map(|at| {
                    let address = (*spellings.get(at)?)?;
                    Some((address, beside.next().and_then(Option::as_ref)))
                })
                .collect();
            let mut start = *start;
            let chunks = addresses.chunks(AT_ONCE).zip(objects.chunks(AT_ONCE)).zip(beside.chunks(AT_ONCE));
            for ((addresses, objects), beside) in chunks {
                originals(server, transaction, (key, start, event.at_ms), addresses, objects, beside).await?;
                start += addresses.len() as u64;
            }
        }
        EventKind::Compacted { record, address, .. } => {
            let objects: Vec<&Object> = objects.iter().flatten().collect();
            let content = put(&server.sealer, transaction, &objects).await?.remove(address);
            let gone = content.is_none().then_some(address.0.as_slice());
            let insert =
                "INSERT INTO records (session, seq, id, content, address) VALUES ($1, $2, $3, $4, $5)";
            transaction
                .execute(insert, &[&key, &clamp(event.seq), &record.as_str(), &content, &gone])
                .await?;
        }
        EventKind::Forgotten { originals, records, .. } => {
            erase(transaction, key, originals, records).await?;
            // It may quote what was forgotten, and can be made again.
            forget_snapshot(transaction, key).await?;
        }
        _ => {}
    }
    Ok(())
}

/// What is kept beside an original: its address, and the content where it is not destroyed.
type Beside<'a> = Option<(ContentHash, Option<&'a Object>)>;

async fn originals(
    server: &Server,
    transaction: &Transaction<'_>,
    (key, start, at_ms): (i64, u64, i64),
    addresses: &[ContentHash],
    objects: &[Option<Object>],
    beside: &[Beside<'_>],
) -> Result<(), Failure> {
    const INSERT: &str =
        "INSERT INTO originals (session, ordinal, at_ms, content, address, words, spelling, spelling_address)
        SELECT $1, t.ordinal, $2, t.content, t.address, t.words::bigint[], t.spelling, t.spelling_address
        FROM unnest($3::bigint[], $4::bigint[], $5::bytea[], $6::text[], $7::bigint[], $8::bytea[])
          AS t (ordinal, content, address, words, spelling, spelling_address)";
    let spelled = beside.iter().flatten().filter_map(|(_, object)| *object);
    let given: Vec<&Object> = objects.iter().flatten().chain(spelled).collect();
    let contents = put(&server.sealer, transaction, &given).await?;
    let (mut ordinals, mut keys, mut gone, mut words) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for ((ordinal, address), object) in (start..).zip(addresses).zip(objects) {
        let content = object.as_ref().and_then(|_| contents.get(address).copied());
        ordinals.push(clamp(ordinal));
        keys.push(content);
        gone.push(content.is_none().then_some(address.0.as_slice()));
        words.push(object.as_ref().map(|object| tokens(&server.sealer, &object.words())));
    }
    let spelling = |beside: &Beside<'_>| {
        beside.and_then(|(address, object)| object.and(contents.get(&address).copied()))
    };
    let spellings: Vec<Option<i64>> = beside.iter().map(spelling).collect();
    let gone_beside: Vec<Option<&[u8]>> = beside
        .iter()
        .map(|beside| {
            beside.as_ref().filter(|(_, object)| object.is_none()).map(|(address, _)| address.0.as_slice())
        })
        .collect();
    let insert = transaction.prepare_cached(INSERT).await?;
    let values: [&(dyn tokio_postgres::types::ToSql + Sync); 8] =
        [&key, &at_ms, &ordinals, &keys, &gone, &words, &spellings, &gone_beside];
    transaction.execute(&insert, &values).await?;
    Ok(())
}

/// Returns the tokens of words as the server reads an array.
fn tokens(sealer: &Sealer, words: &str) -> String {
    let mut tokens = String::from("{");
    for word in words.split(' ').filter(|word| !word.is_empty()) {
        if tokens.len() > 1 {
            tokens.push(',');
        }
        tokens.push_str(&(sealer.token(word) as i64).to_string());
    }
    tokens.push('}');
    tokens
}

/// Stores contents, or counts more references to those that are there, and returns the key of each.
async fn put(
    sealer: &Sealer,
    transaction: &Transaction<'_>,
    objects: &[&Object],
) -> Result<HashMap<ContentHash, i64>, Failure> {
    // In the order of addresses, so that two transactions with the same contents do not wait for each other.
    const INSERT: &str = "INSERT INTO contents (address, refs, body)
        SELECT t.address, t.refs, t.body FROM unnest($1::bytea[], $2::bigint[], $3::bytea[]) AS t (address, refs, body)
        ORDER BY t.address
        ON CONFLICT (address) DO UPDATE SET refs = contents.refs + excluded.refs
        RETURNING key, address, xmax = 0";
    let mut counted: BTreeMap<ContentHash, (&Object, i64)> = BTreeMap::new();
    for object in objects {
        counted.entry(object.address).or_insert((object, 0)).1 += 1;
    }
    let seal = |(object, _): &(&Object, i64)| sealer.seal_alone(&compress(object.json.as_bytes()));
    let sealed: Vec<SealedAlone> = counted.values().map(seal).collect();
    let addresses: Vec<&[u8]> = counted.keys().map(|address| address.0.as_slice()).collect();
    let refs: Vec<i64> = counted.values().map(|(_, refs)| *refs).collect();
    let bodies: Vec<&[u8]> = sealed.iter().map(|sealed| sealed.body.as_slice()).collect();
    let insert = transaction.prepare_cached(INSERT).await?;
    let rows = transaction.query(&insert, &[&addresses, &refs, &bodies]).await?;
    let own: HashMap<&[u8], &[u8]> =
        addresses.iter().copied().zip(sealed.iter().map(|sealed| sealed.key.as_slice())).collect();
    let (mut ids, mut keys, mut known) = (Vec::new(), Vec::new(), HashMap::new());
    for row in &rows {
        let (id, address): (i64, &[u8]) = (row.get(0), row.get(1));
        // What was there has its key already, perhaps of a body that another version of zstd made.
        if row.get(2) {
            ids.push(id);
            keys.push(own.get(address).copied());
        }
        known.extend(super::read::hash(Some(address)).map(|address| (address, id)));
    }
    if !ids.is_empty() {
        let insert = "INSERT INTO keys (id, key) SELECT * FROM unnest($1::bigint[], $2::bytea[])";
        let insert = transaction.prepare_cached(insert).await?;
        transaction.execute(&insert, &[&ids, &keys]).await?;
    }
    Ok(known)
}

/// Takes originals and records away; with the last reference a content and its key go.
async fn erase(
    transaction: &Transaction<'_>,
    key: i64,
    originals: &[Span],
    records: &[SummaryId],
) -> Result<(), Failure> {
    const ORIGINALS: &str = "WITH gone AS (
          SELECT originals.ordinal, originals.content, contents.address,
            originals.spelling, beside.address AS spelling_address
          FROM originals JOIN contents ON contents.key = originals.content
            LEFT JOIN contents AS beside ON beside.key = originals.spelling
          WHERE originals.session = $1 AND originals.ordinal >= $2 AND originals.ordinal < $3)
        UPDATE originals SET content = NULL, address = gone.address, words = NULL,
          spelling = NULL, spelling_address = gone.spelling_address FROM gone
        WHERE originals.session = $1 AND originals.ordinal = gone.ordinal RETURNING gone.content, gone.spelling";
    const RECORDS: &str = "WITH gone AS (
          SELECT records.seq, records.content, contents.address
          FROM records JOIN contents ON contents.key = records.content
          WHERE records.session = $1 AND records.id = ANY ($2))
        UPDATE records SET content = NULL, address = gone.address FROM gone
        WHERE records.session = $1 AND records.seq = gone.seq RETURNING gone.content";
    const REFERENCES: &str = "UPDATE contents SET refs = refs - dropped.n
        FROM (SELECT content, count(*) AS n FROM unnest($1::bigint[]) AS t (content) GROUP BY content) AS dropped
        WHERE contents.key = dropped.content RETURNING contents.key, contents.refs < 1";
    let mut dropped: Vec<i64> = Vec::new();
    for span in originals {
        let rows = transaction.query(ORIGINALS, &[&key, &clamp(span.start), &clamp(span.end)]).await?;
        dropped.extend(rows.iter().map(|row| row.get::<_, i64>(0)));
        dropped.extend(rows.iter().filter_map(|row| row.get::<_, Option<i64>>(1)));
    }
    let ids: Vec<&str> = records.iter().map(SummaryId::as_str).collect();
    let rows = transaction.query(RECORDS, &[&key, &ids]).await?;
    dropped.extend(rows.iter().map(|row| row.get::<_, i64>(0)));
    let rows = transaction.query(REFERENCES, &[&dropped]).await?;
    let gone: Vec<i64> = rows.iter().filter(|row| row.get(1)).map(|row| row.get(0)).collect();
    transaction.execute("DELETE FROM contents WHERE key = ANY ($1)", &[&gone]).await?;
    transaction.execute("DELETE FROM keys WHERE id = ANY ($1)", &[&gone]).await?;
    Ok(())
}

/// Takes away what is cached and may quote what was forgotten in `session`.
async fn forget_cached(transaction: &Transaction<'_>, session: &SessionId) -> Result<(), Failure> {
    const CACHED: &str = "DELETE FROM cache
        WHERE substr(address, 1, 8) <> $1 AND (substr(address, 1, 8) <> $2 OR substr(address, 9, 8) = $3)
        RETURNING key";
    let (lasting, of_session, part) = (cache::LASTING, cache::OF_SESSION, cache::part_of(session));
    let tags = [lasting.as_slice(), of_session.as_slice(), part.as_slice()];
    let rows = transaction.query(CACHED, &[&tags[0], &tags[1], &tags[2]]).await?;
    let gone: Vec<i64> = rows.iter().map(|row| row.get(0)).collect();
    transaction.execute("DELETE FROM keys WHERE id = ANY ($1)", &[&gone]).await?;
    Ok(())
}

/// Writes the table of keys anew, so that those that were deleted stand in no page of it, even where another transaction
/// could still see them, for which VACUUM would keep them. It is small: about 150 bytes a content. The [`NOTE`] goes with it:
/// who writes that has the table's lock.
async fn scrub(server: &Server) -> Result<(), StoreError> {
    const ANEW: &str = "LOCK TABLE keys IN ACCESS EXCLUSIVE MODE;
        CREATE TEMPORARY TABLE kept_keys ON COMMIT DROP AS SELECT id, key FROM keys;
        TRUNCATE keys;
        INSERT INTO keys (id, key) SELECT id, key FROM kept_keys ORDER BY id;
        DELETE FROM meta WHERE name = 'to_scrub';";
    let done = server.batch("overwriting what was forgotten", ANEW).await;
    done.map_err(|error| match error {
        StoreError::Backend { source, .. } => StoreError::NotOverwritten { source },
        error => StoreError::NotOverwritten { source: error.into() },
    })
}

/// Overwrites what was forgotten where that failed before, or its process was killed.
pub(super) async fn scrub_where_due(server: &Server) -> Result<(), StoreError> {
    const NOTED: &str = "SELECT FROM meta WHERE name = 'to_scrub'";
    match server.query("reading the database", NOTED, &[]).await?.is_empty() {
        true => Ok(()),
        false => scrub(server).await,
    }
}

/// Says, with what is being erased, that keys are to be overwritten.
const NOTE: &str = "INSERT INTO meta (name, value) VALUES ('to_scrub', '') ON CONFLICT (name) DO NOTHING";

/// Names a session.
pub(super) async fn set_alias(
    server: &Server,
    alias: &SessionId,
    session: &SessionId,
) -> Result<(), StoreError> {
    const INSERT: &str = "INSERT INTO aliases (alias, session) VALUES ($1, $2)
        ON CONFLICT (alias) DO UPDATE SET session = excluded.session";
    server.query(WRITING, INSERT, &[&alias.as_str(), &session.as_str()]).await.map(drop)
}

/// Caches a value, in place of the one before it.
pub(super) async fn cache(server: &Server, key: &ContentHash, value: &[u8]) -> Result<(), StoreError> {
    const INSERT: &str =
        "WITH gone AS (DELETE FROM keys USING cache WHERE keys.id = cache.key AND cache.address = $1),
          new AS (INSERT INTO keys (id, key) VALUES (nextval('sealed_id'), $3) RETURNING id)
        INSERT INTO cache (address, key, value) SELECT $1, new.id, $2 FROM new
        ON CONFLICT (address) DO UPDATE SET key = excluded.key, value = excluded.value";
    let sealed = server.sealer.seal_alone(&compress(value));
    server.query(WRITING, INSERT, &[&key.0.as_slice(), &sealed.body, &sealed.key]).await.map(drop)
}

/// How many originals go to the server in one statement.
const AT_ONCE: usize = 500;

const WRITING: &str = "writing to the database";
