//! Connections: how they are made, and how one that was lost is got over.

use std::time::Duration;

use deadpool_postgres::{Client, Manager, ManagerConfig, Pool, RecyclingMethod, Runtime};
use tokio_postgres::{Config, NoTls, Row, config::SslMode, types::ToSql};

use super::{PostgresOptions, failure::Failure, schema, tls};
use crate::{StoreError, seal::Sealer};

/// A schema of a server, and what opens what stands in it.
#[derive(Debug)]
pub(super) struct Server {
    pool: Pool,
    pub(super) sealer: Sealer,
}

impl Server {
    pub(super) async fn open(url: &str, options: PostgresOptions) -> Result<Server, StoreError> {
        if !is_name(&options.schema) {
            let reason = "the name of the schema holds other characters than a-z, 0-9 and _, or is too long";
            return Err(StoreError::backend("opening the database", reason));
        }
        let mut config: Config =
            url.parse().map_err(|error| StoreError::backend("reading the store's URL", error))?;
        // What the caller said in the URL stays in force beside it.
        let said = config.get_options().map(|said| format!("{said} ")).unwrap_or_default();
        config.options(format!("{DEADLINE} {said}-c search_path={}", options.schema));
        tls::secure(&mut config);
        if config.get_application_name().is_none() {
            config.application_name("longhaul");
        }
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECT_TIMEOUT);
        }
        // A machine that vanished without a word is noticed, and its rows are free again.
        config.keepalives_idle(KEEPALIVE);
        config.tcp_user_timeout(SILENCE);
        let recycling = ManagerConfig { recycling_method: RecyclingMethod::Fast };
        let manager = match config.get_ssl_mode() {
            SslMode::Disable => Manager::from_config(config, NoTls, recycling),
            _ => {
                let tls =
                    tls::Tls::new().map_err(|error| StoreError::backend("reading trusted roots", error))?;
                Manager::from_config(config, tls, recycling)
            }
        };
        let pool = Pool::builder(manager)
            .max_size(options.max_connections.max(1))
            .runtime(Runtime::Tokio1)
            .build()
            .map_err(|error| StoreError::backend("opening the database", error))?;
        let mut patience = Patience::of(OPENING);
        let sealer = loop {
            let opened = async {
                let mut client = pool.get().await?;
                schema::migrate(&mut client, &options.schema).await?;
                schema::unlock(&mut client, options.key.as_ref()).await
            };
            match opened.await {
                Ok(sealer) => break sealer,
                Err(failure) if failure.is_passing() && patience.wait().await => {}
                Err(failure) => return Err(failure.told("opening the database")),
            }
        };
        Ok(Server { pool, sealer })
    }

    /// Returns a connection.
    pub(super) async fn client(&self) -> Result<Client, Failure> {
        Ok(self.pool.get().await?)
    }

    /// Runs one statement that may be run twice, again where the connection was lost, and returns its rows.
    pub(super) async fn query(
        &self,
        doing: &'static str,
        sql: &str,
        parameters: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Row>, StoreError> {
        let mut patience = Patience::of(WORKING);
        loop {
            let done = async {
                let client = self.client().await?;
                let statement = client.prepare_cached(sql).await?;
                Ok(client.query(&statement, parameters).await?)
            };
            match done.await {
                Ok(rows) => return Ok(rows),
                Err(failure) if Failure::is_passing(&failure) && patience.wait().await => {}
                Err(failure) => return Err(failure.told(doing)),
            }
        }
    }

    /// Runs statements in one transaction that may be run twice, again where the connection was lost.
    pub(super) async fn batch(&self, doing: &'static str, sql: &str) -> Result<(), StoreError> {
        let mut patience = Patience::of(WORKING);
        loop {
            let done = async { Ok(self.client().await?.batch_execute(sql).await?) };
            match done.await {
                Ok(()) => return Ok(()),
                Err(failure) if Failure::is_passing(&failure) && patience.wait().await => {}
                Err(failure) => return Err(failure.told(doing)),
            }
        }
    }
}

/// How often something is tried again, each time after a longer wait.
pub(super) struct Patience {
    left: u32,
    wait: Duration,
}

impl Patience {
    pub(super) fn of(attempts: u32) -> Patience {
        Patience { left: attempts, wait: FIRST_WAIT }
    }

    /// Waits for the next attempt; returns `false` where there is none.
    pub(super) async fn wait(&mut self) -> bool {
        if self.left == 0 {
            return false;
        }
        self.left -= 1;
        tokio::time::sleep(self.wait).await;
        self.wait = (self.wait * 2).min(LONGEST_WAIT);
        true
    }
}

/// Returns whether `name` is a schema's name that needs no quotes.
fn is_name(name: &str) -> bool {
    let is_inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    (1..=63).contains(&name.len())
        && name.chars().all(is_inner)
        && !name.starts_with(|c: char| c.is_ascii_digit())
}

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// A statement that takes longer than this has met something that does not end by itself. What the caller's URL says goes
/// before it.
const DEADLINE: &str = "-c statement_timeout=300s";

/// How long what was sent may stay without a sign that it arrived.
const SILENCE: Duration = Duration::from_secs(60);
const KEEPALIVE: Duration = Duration::from_secs(30);
const FIRST_WAIT: Duration = Duration::from_millis(25);
const LONGEST_WAIT: Duration = Duration::from_secs(1);

/// Attempts to open: a server that is not there is told after 0.8 seconds.
const OPENING: u32 = 5;

/// Attempts of everything else: half a minute, which a server needs to restart.
pub(super) const WORKING: u32 = 35;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schema_is_named_without_quotes() {
        for name in ["longhaul", "_a1", &"x".repeat(63)] {
            assert!(is_name(name), "{name}");
        }
        for name in ["", "1a", "a b", "Ab", "a;drop", "a\"", "é", &"x".repeat(64)] {
            assert!(!is_name(name), "{name}");
        }
    }
}
