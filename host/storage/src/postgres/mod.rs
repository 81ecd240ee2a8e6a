//! PostgreSQL through a pool. The server keeps the time limits; the client only notices a server that is gone, by a timer
//! of the async runtime: tests that stop the clock use SQLite.

mod bind;
mod decode;
mod execute;
mod explain;
mod lease;
mod lock;
mod migrator;
mod session;
mod wakes;

pub use explain::explain;
pub use lock::lock_alone;
pub use session::Session;
pub use wakes::Wakes;

use super::{
    DatabaseSettings, StorageError,
    check::Admitted,
    limits::Room,
    migrate::{AppliedMigration, MigrationReport, Step},
};
use explain::Failure;
use lease::Lease;
use plugin_api::abi::Rows;
use secrecy::{ExposeSecret, SecretString};
use sqlx::{
    AssertSqlSafe, Connection, Executor, PgConnection, PgPool,
    postgres::{PgConnectOptions, PgPoolOptions},
};
use std::{
    str::FromStr,
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::{
    sync::{AcquireError, Semaphore},
    time::error::Elapsed,
};

/// How much longer than the server's limit the client waits before it gives the connection up.
const GRACE: Duration = Duration::from_secs(5);
const STATEMENT_CACHE_COUNT: usize = 256;

pub struct Postgres {
    pool: PgPool,
    url: SecretString,
    /// Transactions that wait for a lock hold a connection: some connections stay free for reads.
    places: Arc<Semaphore>,
    statement_timeout: Duration,
    transaction_timeout: Duration,
    transaction_idle: Duration,
}

impl Postgres {
    pub async fn open(settings: &DatabaseSettings) -> Result<Self, StorageError> {
        let options = options(&settings.url)?;
        let door = lock::Door::default();
        let seen = door.clone();
        let preparation = preparation(settings);
        let statement_timeout = Duration::from_millis(settings.statement_timeout_ms);
        let pool = PgPoolOptions::new()
            .max_connections(settings.pool_max.max(2))
            .acquire_timeout(statement_timeout + GRACE)
            .after_connect(move |connection, _| {
                let preparation = AssertSqlSafe(preparation.clone());
                let door = seen.clone();
                Box::pin(async move {
                    door.enter(connection).await?;
                    connection.execute(sqlx::raw_sql(preparation)).await?;
                    notice_lost_clients(connection).await;
                    Ok(())
                })
            })
            .connect_with(options)
            .await
            .map_err(|error| door.explain(error))?;
        let pool_max = usize::try_from(settings.pool_max.max(2)).unwrap_or(usize::MAX);
        let postgres = Self {
            pool,
            url: settings.url.clone(),
            places: Arc::new(Semaphore::new(pool_max - pool_max.div_ceil(4))),
            statement_timeout,
            transaction_timeout: Duration::from_millis(settings.transaction_timeout_ms),
            transaction_idle: Duration::from_millis(settings.transaction_idle_ms),
        };
        postgres.prepare().await?;
        Ok(postgres)
    }

    pub fn url(&self) -> &SecretString {
        &self.url
    }

    pub async fn read(&self, admitted: &Admitted) -> Result<Rows, StorageError> {
        match self.read_once(admitted).await {
            Err(failure) if failure.is_stale => self.read_once(admitted).await,
            result => result,
        }
        .map_err(|failure| failure.error)
    }

    async fn read_once(&self, admitted: &Admitted) -> Result<Rows, Failure> {
        let mut lease = self.lease().await?;
        let connection = lease.connection()?;
        let result = self.bounded(execute::execute(connection, admitted, &mut Room::new())).await?;
        let is_clean = match &result {
            Ok(_) => true,
            Err(failure) => failure.connection_is_usable,
        };
        if is_clean {
            lease.give_back();
        }
        result.map(|outcome| outcome.rows)
    }

    async fn lease(&self) -> Result<Lease, StorageError> {
        let connection = self.pool.acquire().await.map_err(explain)?;
        Ok(Lease::new(connection, None))
    }

    async fn lease_for_transaction(&self) -> Result<Lease, StorageError> {
        let unavailable = |reason: &str| StorageError::Unavailable(reason.to_owned());
        let place = Arc::clone(&self.places).acquire_owned();
        let place = tokio::time::timeout(self.statement_timeout + GRACE, place)
            .await
            .map_err(|_elapsed: Elapsed| unavailable("too many transactions are waiting"))?
            .map_err(|_closed: AcquireError| unavailable("the database is closed"))?;
        let connection = self.pool.acquire().await.map_err(explain)?;
        Ok(Lease::new(connection, Some(place)))
    }

    /// Gives up on a server that does not answer although its own limits have passed.
    async fn bounded<T>(&self, work: impl Future<Output = T>) -> Result<T, StorageError> {
        tokio::time::timeout(self.statement_timeout + GRACE, work)
            .await
            .map_err(|_elapsed: Elapsed| StorageError::Unavailable("the server does not answer".into()))
    }

    /// Which limit a transaction has passed that began and was last used then.
    fn overrun(&self, since: Instant, used: Instant) -> Option<&'static str> {
        if since.elapsed() > self.transaction_timeout {
            Some("it took too long")
        } else if used.elapsed() > self.transaction_idle {
            Some("it kept the database waiting for too long")
        } else {
            None
        }
    }

    async fn prepare(&self) -> Result<(), StorageError> {
        migrator::prepare(self.lease().await?).await
    }

    pub async fn migrate(&self, owner: &str, steps: Vec<Step>) -> Result<MigrationReport, StorageError> {
        migrator::apply(self.lease().await?, owner, steps).await
    }

    pub async fn define(&self, sql: &str) -> Result<(), StorageError> {
        migrator::define(self.lease().await?, sql).await
    }

    pub async fn applied(&self, owner: Option<&str>) -> Result<Vec<AppliedMigration>, StorageError> {
        let mut lease = self.lease().await?;
        let applied = migrator::applied_of(lease.connection()?, owner).await?;
        lease.give_back();
        Ok(applied)
    }

    pub async fn close(&self) {
        self.places.close();
        self.pool.close().await;
    }
}

/// One connection of its own, outside any pool.
pub async fn connect(url: &SecretString) -> Result<PgConnection, StorageError> {
    PgConnection::connect_with(&options(url)?).await.map_err(explain)
}

fn options(url: &SecretString) -> Result<PgConnectOptions, StorageError> {
    let options = PgConnectOptions::from_str(url.expose_secret()).map_err(|_quotes_password: sqlx::Error| {
        // The error would quote the address with its password.
        StorageError::Unavailable("the database's address is not valid".into())
    })?;
    Ok(options.statement_cache_capacity(STATEMENT_CACHE_COUNT).application_name("gateway"))
}

/// What every connection is told once.
fn preparation(settings: &DatabaseSettings) -> String {
    let DatabaseSettings {
        statement_timeout_ms: statement,
        transaction_timeout_ms: transaction,
        transaction_idle_ms: idle,
        ..
    } = settings;
    let lock = statement.min(transaction);
    // A server that was told to answer before it is safe is told otherwise; a stricter setting than `on` stays.
    let durability = if settings.synchronous_full {
        "SELECT set_config('synchronous_commit', 'on', false)
             WHERE current_setting('synchronous_commit') = 'off'"
    } else {
        "SET synchronous_commit = off"
    };
    format!(
        "SET statement_timeout = {statement};
         SET lock_timeout = {lock};
         SET idle_in_transaction_session_timeout = {idle};
         SET standard_conforming_strings = on;
         {durability}"
    )
}

/// Makes the server stop a statement whose client has gone. Servers on some systems cannot; their limits do it then.
async fn notice_lost_clients(connection: &mut PgConnection) {
    let set = sqlx::raw_sql("SET client_connection_check_interval = 100");
    if let Err(error) = connection.execute(set).await {
        tracing::debug!(error = %error, "the server does not look for lost clients");
    }
}
