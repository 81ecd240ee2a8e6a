//! Which gateways have the database open, and whether it is being restored: rows of one table.
//!
//! The rule: a restore begins only when no gateway has the database open, and a gateway opens it only when no restore runs.
//! A row counts while it is fresh and the connection that wrote it is open. (Behind a pooler that connection is another
//! program's, so a row of a gateway that was killed counts until it is no longer fresh.) It is no lock of a session, because a
//! pooler has none.

use super::{
    connector::Connector,
    error::{driver_error, storage_error},
    migrator::begin_sql,
    reachability::Reachability,
    session::Session,
};
use crate::error::StorageError;
use sqlx::{AssertSqlSafe, Executor as _, PgConnection};
use std::{convert::Infallible, sync::Arc, time::Duration};
use tokio::{
    sync::Mutex,
    task::JoinHandle,
    time::{error::Elapsed, sleep, timeout},
};
use tokio_postgres::Error;

/// Backups leave it out, and restores let it be.
pub(crate) const TABLE: &str = "host_gateways";
const HEARTBEAT: Duration = Duration::from_secs(5);
const RETRY: Duration = Duration::from_millis(500);
const RESTORE: &str = "restore";
const RESTORED: &str = "it was restored while this gateway did not answer: restart the gateway";

/// Not moved by a restore, so it is made before all other tables, under the lock of migrations.
const CREATE: &str = "CREATE TABLE IF NOT EXISTS host_gateways
    (instance TEXT NOT NULL PRIMARY KEY, seen_at TIMESTAMPTZ NOT NULL, pid INTEGER NOT NULL)";
/// Three heartbeats.
const COUNTS: &str =
    "seen_at > clock_timestamp() - interval '15 seconds' AND pid IN (SELECT pid FROM pg_stat_activity)";
const NOW: &str = "clock_timestamp(), pg_backend_pid()";

/// The row of an open database.
pub(crate) struct GatewayRegistration {
    instance: String,
    connector: Arc<Connector>,
    heartbeat: Mutex<Option<JoinHandle<()>>>,
}

impl GatewayRegistration {
    /// Fails while the database is being restored.
    pub(crate) async fn enter(
        connector: Connector,
        reachability: Arc<Reachability>,
        connect_timeout: Duration,
    ) -> Result<Self, StorageError> {
        let no_answer = |_: Elapsed| StorageError::Unavailable("the server does not answer".into());
        let connector = Arc::new(connector);
        let session = timeout(connect_timeout, connector.connect()).await.map_err(no_answer)?;
        let mut session = session.map_err(driver_error)?;
        let instance = enter(&mut session).await?;
        let heartbeat = tokio::spawn(beat(session, Arc::clone(&connector), instance.clone(), reachability));
        Ok(Self { instance, connector, heartbeat: Mutex::new(Some(heartbeat)) })
    }

    /// If this fails, the row counts for some seconds at most.
    pub(crate) async fn leave(&self) {
        if let Some(heartbeat) = self.heartbeat.lock().await.take() {
            heartbeat.abort();
            let delete = async {
                let mut session = self.connector.connect().await?;
                session.batch(&format!("DELETE FROM host_gateways WHERE instance = '{}'", self.instance)).await
            };
            let _ = timeout(HEARTBEAT, delete).await;
        }
    }
}

impl Drop for GatewayRegistration {
    fn drop(&mut self) {
        if let Some(heartbeat) = self.heartbeat.get_mut().take() {
            heartbeat.abort();
        }
    }
}

async fn enter(session: &mut Session) -> Result<String, StorageError> {
    let begin = format!(
        "{}; {CREATE}; DELETE FROM host_gateways WHERE seen_at < clock_timestamp() - interval '1 day'",
        begin_sql()
    );
    session.batch(&begin).await.map_err(driver_error)?;
    let restore = format!("SELECT instance FROM host_gateways WHERE instance = '{RESTORE}' AND {COUNTS}");
    if session.text(&restore).await.map_err(driver_error)?.is_some() {
        return Err(StorageError::Unavailable("it is being restored".into()));
    }
    let insert = format!("INSERT INTO host_gateways SELECT gen_random_uuid()::text, {NOW} RETURNING instance");
    let instance = session.text(&insert).await.map_err(driver_error)?;
    session.batch("COMMIT").await.map_err(driver_error)?;
    instance.ok_or_else(|| StorageError::Internal("the gateway's row was not stored".into()))
}

/// Keeps the row fresh, over connections that are lost, until a restore has taken it for that of a dead gateway.
async fn beat(mut session: Session, connector: Arc<Connector>, instance: String, reachability: Arc<Reachability>) {
    loop {
        // Ends early when the connection is lost, whose end makes the row count no more.
        let is_open = timeout(HEARTBEAT, session.driver.notified()).await.is_err();
        match timeout(HEARTBEAT, refresh(is_open.then_some(&mut session), &connector, &instance)).await {
            Ok(Ok((true, new))) => session = new.unwrap_or(session),
            Ok(Ok((false, _))) => return reachability.close(RESTORED),
            Ok(Err(_)) | Err(_) => sleep(RETRY).await,
        }
    }
}

/// Whether the row is still this gateway's; with a session if a new one was opened.
async fn refresh(
    session: Option<&mut Session>,
    connector: &Connector,
    instance: &str,
) -> Result<(bool, Option<Session>), Error> {
    let text = format!(
        "BEGIN; SET LOCAL synchronous_commit = off; INSERT INTO host_gateways VALUES ('{instance}', {NOW})
         ON CONFLICT (instance) DO UPDATE SET seen_at = excluded.seen_at, pid = excluded.pid
         WHERE host_gateways.seen_at > '-infinity'; COMMIT"
    );
    match session {
        Some(session) => Ok((session.changes(&text).await? > 0, None)),
        None => {
            let mut session = connector.connect().await?;
            Ok((session.changes(&text).await? > 0, Some(session)))
        }
    }
}

/// Whether a gateway or a restore has the database.
pub(crate) async fn is_in_use(connection: &mut PgConnection) -> Result<bool, StorageError> {
    let is_there = sqlx::query_scalar::<_, bool>("SELECT to_regclass($1) IS NOT NULL").bind(TABLE);
    if !is_there.persistent(false).fetch_one(&mut *connection).await.map_err(storage_error)? {
        return Ok(false);
    }
    let counts = format!("SELECT EXISTS (SELECT 1 FROM host_gateways WHERE {COUNTS})");
    let counts = sqlx::query_scalar(AssertSqlSafe(counts)).persistent(false);
    counts.fetch_one(connection).await.map_err(storage_error)
}

/// Claims the database for a restore, unless it is in use.
pub(crate) async fn claim_for_restore(connection: &mut PgConnection) -> Result<bool, StorageError> {
    run(connection, format!("{}; {CREATE}", begin_sql())).await?;
    if is_in_use(connection).await? {
        run(connection, "ROLLBACK".to_owned()).await?;
        return Ok(false);
    }
    let claim = format!(
        "INSERT INTO host_gateways VALUES ('{RESTORE}', {NOW})
         ON CONFLICT (instance) DO UPDATE SET seen_at = excluded.seen_at, pid = excluded.pid; COMMIT"
    );
    run(connection, claim).await?;
    Ok(true)
}

/// Gateways that are not seen any more may only have been asleep: they must not go on with what is restored.
pub(crate) async fn lock_absent_out(connection: &mut PgConnection) -> Result<(), StorageError> {
    run(connection, format!("UPDATE host_gateways SET seen_at = '-infinity' WHERE instance <> '{RESTORE}'")).await
}

/// Keeps the claim while the work runs.
pub(crate) async fn while_claimed<T>(connection: &mut PgConnection, work: impl Future<Output = T>) -> T {
    let refresh = async {
        loop {
            sleep(HEARTBEAT).await;
            let update = format!("UPDATE host_gateways SET seen_at = clock_timestamp() WHERE instance = '{RESTORE}'");
            if let Err(error) = run(connection, update).await {
                tracing::warn!(%error, "the restore's row could not be refreshed");
            }
        }
    };
    let never: Infallible = tokio::select! {
        biased;
        done = work => return done,
        never = refresh => never,
    };
    match never {}
}

/// If this fails, the claim ends with the connection, or some seconds later.
pub(crate) async fn release_claim(connection: &mut PgConnection) {
    let delete = format!("DELETE FROM host_gateways WHERE instance = '{RESTORE}'");
    if let Err(error) = run(connection, delete).await {
        tracing::debug!(%error, "the restore's row could not be deleted");
    }
}

async fn run(connection: &mut PgConnection, sql: String) -> Result<(), StorageError> {
    connection.execute(sqlx::raw_sql(AssertSqlSafe(sql))).await.map(drop).map_err(storage_error)
}
