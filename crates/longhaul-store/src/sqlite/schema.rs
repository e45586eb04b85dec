//! The database's shape, and how an older one becomes the present one.

use rusqlite::{Connection, Transaction};

use super::READING;
use crate::StoreError;

/// One SQL script a version, never changed once released; `user_version` says how many have run.
const MIGRATIONS: &[&str] = &[
    include_str!("../../migrations/sqlite/0001.sql"),
    include_str!("../../migrations/sqlite/0002.sql"),
    include_str!("../../migrations/sqlite/0003.sql"),
    include_str!("../../migrations/sqlite/0004.sql"),
    include_str!("../../migrations/sqlite/0005.sql"),
    include_str!("../../migrations/sqlite/0006.sql"),
    include_str!("../../migrations/sqlite/0007.sql"),
];

/// Marks a file as longhaul's: `LHst`.
pub(super) const APPLICATION_ID: i32 = 0x4c48_7374;

/// Brings the database to the present version, in one transaction: a process killed in the middle leaves the old one.
///
/// # Errors
/// When the database belongs to another program or to a newer longhaul.
pub(crate) fn migrate(connection: &mut Connection) -> Result<(), StoreError> {
    let transaction = connection
        .transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)
        .map_err(|error| StoreError::backend("opening the database", error))?;
    migrate_to(&transaction, MIGRATIONS)?;
    transaction.commit().map_err(|error| StoreError::backend("migrating the database", error))
}

/// Fails where the database is not of the present version: what is only read cannot be brought there.
pub(crate) fn must_be_present(connection: &Connection) -> Result<(), StoreError> {
    let failed = |error| StoreError::backend(READING, error);
    let version = connection.pragma_query_value(None, "user_version", |row| row.get::<_, i64>(0));
    let (found, known) =
        (u32::try_from(version.map_err(failed)?).unwrap_or(u32::MAX), MIGRATIONS.len() as u32);
    match found.cmp(&known) {
        std::cmp::Ordering::Equal => Ok(()),
        std::cmp::Ordering::Greater => Err(StoreError::NewerVersion { what: "the database", found, known }),
        std::cmp::Ordering::Less => Err(StoreError::backend(
            READING,
            "an earlier version made it; open it once where it may be written to",
        )),
    }
}

fn migrate_to(transaction: &Transaction<'_>, migrations: &[&str]) -> Result<(), StoreError> {
    let failed = |error| StoreError::backend("migrating the database", error);
    let pragma = |name: &str| transaction.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let (owner, version) =
        (pragma("application_id").map_err(failed)?, pragma("user_version").map_err(failed)?);
    let tables: i64 =
        transaction.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0)).map_err(failed)?;
    if owner != i64::from(APPLICATION_ID) && (owner != 0 || tables > 0) {
        return Err(StoreError::backend("opening the database", "the file belongs to another program"));
    }
    let known = migrations.len() as u32;
    let found = u32::try_from(version).unwrap_or(u32::MAX);
    if found > known {
        return Err(StoreError::NewerVersion { what: "the database", found, known });
    }
    for script in &migrations[found as usize..] {
        transaction.execute_batch(script).map_err(failed)?;
    }
    if found < known {
        transaction.pragma_update(None, "application_id", APPLICATION_ID).map_err(failed)?;
        transaction.pragma_update(None, "user_version", known).map_err(failed)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(connection: &Connection) -> i64 {
        connection.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap()
    }

    #[test]
    fn every_earlier_version_becomes_the_present_one() {
        for from in 0..=MIGRATIONS.len() {
            let mut connection = Connection::open_in_memory().unwrap();
            let transaction = connection.transaction().unwrap();
            migrate_to(&transaction, &MIGRATIONS[..from]).unwrap();
            transaction.commit().unwrap();
            migrate(&mut connection).unwrap();
            assert_eq!(version(&connection), MIGRATIONS.len() as i64);
        }
    }

    #[test]
    fn what_the_first_version_wrote_stays_as_it_is() {
        let mut connection = Connection::open_in_memory().unwrap();
        let transaction = connection.transaction().unwrap();
        migrate_to(&transaction, &MIGRATIONS[..1]).unwrap();
        let written = "INSERT INTO sessions VALUES (7, 's', 1, '{}');
            INSERT INTO contents VALUES (3, x'01', 1, 0, x'7b7d');
            INSERT INTO originals VALUES (7, 0, 1, 3, NULL), (7, 1, 1, 3, NULL);";
        transaction.execute_batch(written).unwrap();
        transaction.commit().unwrap();
        migrate(&mut connection).unwrap();
        let settled = "SELECT settled, indexed, loose FROM sessions";
        let settled = connection.query_row(settled, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)));
        assert_eq!(settled.unwrap(), (2, 2, 0), "it was indexed when it was written");
        let kept = "SELECT count(*) FROM contents WHERE block IS NULL AND body = x'7b7d'";
        assert_eq!(connection.query_row(kept, [], |row| row.get::<_, i64>(0)).unwrap(), 1);
    }

    #[test]
    fn a_migration_that_fails_half_way_leaves_the_old_version() {
        let mut connection = Connection::open_in_memory().unwrap();
        migrate(&mut connection).unwrap();
        let broken = [MIGRATIONS, &["CREATE TABLE half (x)", "CREATE TABLE half (x)"]].concat();
        let transaction = connection.transaction().unwrap();
        assert!(migrate_to(&transaction, &broken).is_err());
        drop(transaction);
        assert_eq!(version(&connection), MIGRATIONS.len() as i64);
        let half = "SELECT count(*) FROM sqlite_schema WHERE name = 'half'";
        assert_eq!(connection.query_row(half, [], |row| row.get::<_, i64>(0)).unwrap(), 0);
    }

    #[test]
    fn a_newer_database_and_a_foreign_one_are_refused() {
        let mut connection = Connection::open_in_memory().unwrap();
        migrate(&mut connection).unwrap();
        connection.pragma_update(None, "user_version", 99).unwrap();
        let error = migrate(&mut connection).unwrap_err();
        assert!(matches!(error, StoreError::NewerVersion { found: 99, .. }), "{error}");
        let mut foreign = Connection::open_in_memory().unwrap();
        foreign.execute_batch("CREATE TABLE theirs (x)").unwrap();
        assert!(migrate(&mut foreign).is_err());
    }
}
