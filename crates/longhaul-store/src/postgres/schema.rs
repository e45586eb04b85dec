//! The database's shape, and how an older one becomes the present one.

use deadpool_postgres::{Client, Transaction};
use longhaul_transcript::ContentHash;

use super::failure::Failure;
use crate::{StoreError, StoreKey, seal::Sealer};

/// One SQL script a version, never changed once released.
const MIGRATIONS: &[&str] = &[
    include_str!("../../migrations/postgres/0001.sql"),
    include_str!("../../migrations/postgres/0002.sql"),
    include_str!("../../migrations/postgres/0003.sql"),
    include_str!("../../migrations/postgres/0004.sql"),
];

/// Brings the schema to the present version, in one transaction under a lock of its own: of several machines that open
/// a store at once one does it, and one that is killed in the middle leaves the earlier version.
pub(super) async fn migrate(client: &mut Client, schema: &str) -> Result<(), Failure> {
    let transaction = client.transaction().await?;
    migrate_to(&transaction, schema, MIGRATIONS).await?;
    Ok(transaction.commit().await?)
}

async fn migrate_to(transaction: &Transaction<'_>, schema: &str, migrations: &[&str]) -> Result<(), Failure> {
    transaction.execute("SELECT pg_advisory_xact_lock($1)", &[&lock_of(schema)]).await?;
    // Asked first, so that a role that may not create schemas can use one that is there.
    let is_there = "SELECT 1 FROM pg_namespace WHERE nspname = $1";
    if transaction.query_opt(is_there, &[&schema]).await?.is_none() {
        transaction.batch_execute(&format!("CREATE SCHEMA {schema}")).await?;
    }
    let is_there = "SELECT 1 FROM pg_tables WHERE schemaname = $1 AND tablename = 'longhaul_version'";
    let found: i32 = match transaction.query_opt(is_there, &[&schema]).await? {
        Some(_) => transaction.query_one("SELECT version FROM longhaul_version", &[]).await?.get(0),
        None => {
            let others = "SELECT count(*) FROM pg_tables WHERE schemaname = $1";
            let others: i64 = transaction.query_one(others, &[&schema]).await?.get(0);
            if others > 0 {
                let reason = "the schema belongs to another program";
                return Err(StoreError::backend("opening the database", reason).into());
            }
            let make = "CREATE TABLE longhaul_version (version integer NOT NULL);
                        INSERT INTO longhaul_version VALUES (0)";
            transaction.batch_execute(make).await?;
            0
        }
    };
    let (known, found) = (migrations.len() as u32, u32::try_from(found).unwrap_or(u32::MAX));
    if found > known {
        return Err(StoreError::NewerVersion { what: "the database", found, known }.into());
    }
    for script in &migrations[found as usize..] {
        transaction.batch_execute(script).await?;
    }
    if found < known {
        transaction.execute("UPDATE longhaul_version SET version = $1", &[&(known as i32)]).await?;
    }
    Ok(())
}

/// Returns the sealer of the store: of its key, or of the secret that it was made with. A key is checked against what
/// the first who brought one left; a store that was begun without a key has none for good.
pub(super) async fn unlock(client: &mut Client, key: Option<&StoreKey>) -> Result<Sealer, Failure> {
    let locked = |reason| Failure::from(StoreError::Locked { reason });
    let transaction = client.transaction().await?;
    let read = "SELECT value FROM meta WHERE name = $1 FOR UPDATE";
    let secret: Vec<u8> = transaction.query_one(read, &[&"secret"]).await?.get(0);
    let check: Option<Vec<u8>> = transaction.query_opt(read, &[&"check"]).await?.map(|row| row.get(0));
    let Some(key) = key else {
        if check.is_some() {
            return Err(locked("it is kept under a key, and none was given"));
        }
        let secret = secret.try_into().map_err(|_| locked("its own secret is damaged"))?;
        return Ok(Sealer::new(&StoreKey::from_bytes(secret)));
    };
    let sealer = Sealer::new(key);
    match check {
        Some(check) if sealer.open(CHECK, &check).is_some() => {}
        Some(_) => return Err(locked("the key is not the one it is kept under")),
        None => {
            let used = "SELECT EXISTS (SELECT FROM sessions) OR EXISTS (SELECT FROM cache)";
            if transaction.query_one(used, &[]).await?.get(0) {
                return Err(locked("it was begun without a key; export it and import it into a new one"));
            }
            let check = sealer.seal(CHECK, b"longhaul");
            transaction.execute("INSERT INTO meta VALUES ('check', $1)", &[&check]).await?;
            transaction.commit().await?;
        }
    }
    Ok(sealer)
}

/// Returns the number of the lock that guards the shape of `schema`.
fn lock_of(schema: &str) -> i64 {
    let hash = ContentHash::of_fields([b"longhaul schema".as_slice(), schema.as_bytes()]);
    i64::from_le_bytes(hash.0[..8].try_into().expect("a hash has 32 bytes"))
}

/// The place of what a key is checked against.
const CHECK: &[u8] = b"check";
