//! Which gateways have the database open, what each tells the others of itself, and whether the database is being restored: rows of
//! one table.
//!
//! The rule: a restore begins only when no gateway has the database open, and a gateway opens it only when no restore runs.
//! A row counts while it is fresh and the connection that wrote it is open. (Behind a pooler that connection is another
//! program's, so a row of a gateway that was killed counts until it is no longer fresh.) It is no lock of a session, because a
//! pooler has none. All times are those of the database's clock.
//!
//! The others take a gateway for ended when its row is five seconds old and its connection is closed. One that stands still has its
//! connection. One that cannot reach the database has learnt before them that it may be taken for ended: [`GatewayRegistration::absence`].

use super::{
    connector::Connector,
    error::{driver_error, no_answer, storage_error},
    migrator::begin_sql,
    reachability::Reachability,
    session::Session,
};
use crate::{database::gateway_description::GatewayDescription, error::StorageError};
use futures_util::future::BoxFuture;
use sqlx::{AssertSqlSafe, Executor as _, PgConnection};
use std::{collections::BTreeSet, convert::Infallible, sync::Arc, time::Duration};
use tokio::{
    sync::{Mutex, watch},
    task::JoinHandle,
    time::{Instant, error::Elapsed, sleep, sleep_until, timeout},
};
use tokio_postgres::Error;

/// Backups leave it out, and restores let it be.
pub(crate) const TABLE: &str = "host_gateways";
const HEARTBEAT: Duration = Duration::from_secs(2);
/// How long one may take.
const HEARTBEAT_MAX: Duration = Duration::from_secs(5);
/// Less than the time after which the others take this gateway for ended, which begins later, when its heartbeat arrives.
const ABSENT_AFTER: Duration = Duration::from_millis(4_500);
const RETRY: Duration = Duration::from_millis(500);
const RESTORE: &str = "restore";
const RESTORED: &str = "it was restored while this gateway did not answer: restart the gateway";

/// Not moved by a restore, so it is made before all other tables, under the lock of migrations. Earlier versions made it without what a
/// gateway tells of itself; ALTER TABLE would wait for every reader, and all heartbeats for it, so it runs only where that is missing.
const CREATE: &str = "CREATE TABLE IF NOT EXISTS host_gateways
        (instance TEXT NOT NULL PRIMARY KEY, seen_at TIMESTAMPTZ NOT NULL, pid INTEGER NOT NULL);
    DO $$ BEGIN
        IF NOT EXISTS (SELECT FROM pg_attribute WHERE attrelid = 'host_gateways'::regclass AND attname = 'plugins') THEN
            ALTER TABLE host_gateways ADD COLUMN opened_at TIMESTAMPTZ, ADD COLUMN name TEXT, ADD COLUMN version TEXT,
                ADD COLUMN plugins TEXT;
        END IF;
    END $$";
/// Seven heartbeats, or three of earlier versions.
macro_rules! is_fresh {
    () => {
        "seen_at > clock_timestamp() - interval '15 seconds'"
    };
}
const COUNTS: &str = concat!(is_fresh!(), " AND pid IN (SELECT pid FROM pg_stat_activity)");
/// The gateways that were heard of within the last hour. A row without a name is a command's, or an earlier version's.
pub(crate) const SELECT_DESCRIBED: &str = concat!(
    "SELECT instance, name, version, plugins,
        (extract(epoch FROM opened_at) * 1000)::bigint, (extract(epoch FROM seen_at) * 1000)::bigint,
        (extract(epoch FROM clock_timestamp() - seen_at) * 1000)::bigint, NOT (",
    is_fresh!(),
    ") FROM host_gateways WHERE name IS NOT NULL AND seen_at > clock_timestamp() - interval '1 hour'
    ORDER BY name, instance"
);
/// The gateways that have ended without a word, of the last hour.
const SELECT_ENDED: &str = "SELECT string_agg(instance, ',' ORDER BY instance) FROM host_gateways
    WHERE seen_at < clock_timestamp() - interval '5 seconds' AND seen_at > clock_timestamp() - interval '1 hour'
    AND pid NOT IN (SELECT pid FROM pg_stat_activity) AND instance <> 'restore'";
/// Rows of so long ago are deleted, but not those that are locked out: their gateways may still wake up.
const IS_OLD: &str = "seen_at < clock_timestamp() - interval '1 day' AND seen_at > '-infinity'";
const NOW: &str = "clock_timestamp(), pg_backend_pid()";

/// The row of an open database.
pub(crate) struct GatewayRegistration {
    wanted: watch::Sender<Wanted>,
    heartbeat: Mutex<Option<JoinHandle<()>>>,
    /// When the last heartbeat that the database has confirmed began.
    confirmed: watch::Receiver<Instant>,
    ended: watch::Receiver<Arc<BTreeSet<String>>>,
}

/// What the row has to say; the heartbeat writes each change at once.
#[derive(Default)]
struct Wanted {
    description: Option<GatewayDescription>,
    has_left: bool,
}

impl GatewayRegistration {
    /// Fails while the database is being restored.
    pub(crate) async fn enter(
        instance: &str,
        connector: Connector,
        reachability: Arc<Reachability>,
        connect_timeout: Duration,
    ) -> Result<Self, StorageError> {
        let connected = timeout(connect_timeout, connector.connect()).await;
        let session = connected.map_err(|_elapsed: Elapsed| no_answer())?;
        let mut session = session.map_err(driver_error)?;
        let (confirm, confirmed) = watch::channel(Instant::now());
        enter(&mut session, instance).await?;
        let (wanted, changes) = watch::channel(Wanted::default());
        let (end, ended) = watch::channel(Arc::default());
        let heartbeat = Heartbeat { connector, instance: instance.to_owned(), wanted: changes, confirm, end };
        let heartbeat = tokio::spawn(heartbeat.run(session, reachability));
        Ok(Self { wanted, heartbeat: Mutex::new(Some(heartbeat)), confirmed, ended })
    }

    /// Ends when the others may take this gateway for ended from now on, because its heartbeats do not reach the database.
    pub(crate) fn absence(&self) -> BoxFuture<'static, ()> {
        let mut confirmed = self.confirmed.clone();
        Box::pin(async move {
            loop {
                let last = *confirmed.borrow_and_update();
                tokio::select! {
                    biased;
                    // An error means that it has left.
                    changed = confirmed.changed() => if changed.is_err() { return },
                    () = sleep_until(last + ABSENT_AFTER) => return,
                }
            }
        })
    }

    /// The instances of gateways that have ended without a word, as the last heartbeat found them.
    pub(crate) fn ended(&self) -> watch::Receiver<Arc<BTreeSet<String>>> {
        self.ended.clone()
    }

    pub(crate) fn describe(&self, description: GatewayDescription) {
        self.wanted.send_if_modified(|wanted| {
            let is_new = wanted.description.as_ref() != Some(&description);
            wanted.description = Some(description);
            is_new
        });
    }

    /// If this fails, the row counts for some seconds at most.
    pub(crate) async fn leave(&self) {
        if let Some(mut heartbeat) = self.heartbeat.lock().await.take() {
            self.wanted.send_modify(|wanted| wanted.has_left = true);
            if timeout(HEARTBEAT_MAX, &mut heartbeat).await.is_err() {
                heartbeat.abort();
            }
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

async fn enter(session: &mut Session, instance: &str) -> Result<(), StorageError> {
    let begin = format!("{}; {CREATE}; DELETE FROM host_gateways WHERE {IS_OLD}", begin_sql());
    session.batch(&begin).await.map_err(driver_error)?;
    let restore = format!("SELECT instance FROM host_gateways WHERE instance = '{RESTORE}' AND {COUNTS}");
    if session.text(&restore).await.map_err(driver_error)?.is_some() {
        return Err(StorageError::Unavailable("it is being restored".into()));
    }
    let insert = format!(
        "INSERT INTO host_gateways (instance, seen_at, pid, opened_at)
         VALUES ('{instance}', {NOW}, clock_timestamp()); COMMIT"
    );
    session.batch(&insert).await.map_err(driver_error)
}

/// Keeps the row fresh and true, over connections that are lost, until the gateway leaves or a restore has taken the row for that of a
/// dead gateway. It alone writes the row: what is deleted in the end does not come back.
struct Heartbeat {
    connector: Connector,
    instance: String,
    wanted: watch::Receiver<Wanted>,
    confirm: watch::Sender<Instant>,
    end: watch::Sender<Arc<BTreeSet<String>>>,
}

/// What has become of the row.
enum RowState {
    Fresh,
    Left,
    LockedOut,
}

impl Heartbeat {
    async fn run(mut self, mut session: Session, reachability: Arc<Reachability>) {
        let mut has_failed = false;
        loop {
            let pause = if has_failed { RETRY } else { HEARTBEAT };
            let is_open = tokio::select! {
                // The end of the connection makes the row count no more.
                _ = session.driver.notified(), if !has_failed => false,
                Ok(()) = self.wanted.changed() => !has_failed,
                () = sleep(pause) => !has_failed,
            };
            match timeout(HEARTBEAT_MAX, self.beat(is_open.then_some(&mut session))).await {
                Ok(Ok((RowState::Fresh, new))) => (session, has_failed) = (new.unwrap_or(session), false),
                Ok(Ok((RowState::LockedOut, _))) => return reachability.close(RESTORED),
                Ok(Ok((RowState::Left, _))) => return,
                Ok(Err(_)) | Err(_) if self.wanted.borrow().has_left => return,
                // The session may be in a transaction that has failed.
                Ok(Err(_)) | Err(_) => has_failed = true,
            }
        }
    }

    /// With a session if a new one was opened.
    async fn beat(&mut self, session: Option<&mut Session>) -> Result<(RowState, Option<Session>), Error> {
        match session {
            Some(session) => Ok((self.write(session).await?, None)),
            None => {
                let mut session = self.connector.connect().await?;
                Ok((self.write(&mut session).await?, Some(session)))
            }
        }
    }

    async fn write(&mut self, session: &mut Session) -> Result<RowState, Error> {
        let instance = &self.instance;
        let (refresh, has_left) = {
            let wanted = self.wanted.borrow_and_update();
            (refresh_sql(instance, wanted.description.as_ref()), wanted.has_left)
        };
        let delete = format!("DELETE FROM host_gateways WHERE instance = '{instance}'");
        if has_left {
            session.batch(&delete).await?;
            return Ok(RowState::Left);
        }
        let begun = Instant::now();
        if session.changes(&refresh).await? > 0 {
            self.confirm.send_replace(begun);
            let ended = session.text(SELECT_ENDED).await?.unwrap_or_default();
            let ended: BTreeSet<String> = ended.split_terminator(',').map(str::to_owned).collect();
            self.end.send_if_modified(|known| {
                let is_new = **known != ended;
                *known = Arc::new(ended);
                is_new
            });
            return Ok(RowState::Fresh);
        }
        let _ = session.batch(&delete).await;
        Ok(RowState::LockedOut)
    }
}

/// Changes nothing where a restore has locked the gateway out.
fn refresh_sql(instance: &str, description: Option<&GatewayDescription>) -> String {
    let described = description.map_or_else(
        || "NULL, NULL, NULL".to_owned(),
        |GatewayDescription { name, version, plugins }| {
            let plugins = serde_json::to_string(plugins).unwrap_or_default();
            [name, version, &plugins].map(|text| literal(text)).join(", ")
        },
    );
    format!(
        "BEGIN; SET LOCAL synchronous_commit = off;
         INSERT INTO host_gateways (instance, seen_at, pid, opened_at, name, version, plugins)
         VALUES ('{instance}', {NOW}, clock_timestamp(), {described})
         ON CONFLICT (instance) DO UPDATE SET seen_at = excluded.seen_at, pid = excluded.pid,
         opened_at = coalesce(host_gateways.opened_at, excluded.opened_at),
         name = excluded.name, version = excluded.version, plugins = excluded.plugins
         WHERE host_gateways.seen_at > '-infinity'; COMMIT"
    )
}

/// A pooler keeps a connection for a transaction, which one text without parameters is.
fn literal(text: &str) -> String {
    format!("E'{}'", text.replace('\\', r"\\").replace('\'', "''"))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_gateway_tells_stays_within_its_quotes() {
        assert_eq!(literal(r"it's \' a; DROP"), r"E'it''s \\'' a; DROP'");
        let told = GatewayDescription { name: "a'b:1".to_owned(), ..GatewayDescription::default() };
        let text = refresh_sql("one", Some(&told));
        assert!(
            text.contains(
                "VALUES ('one', clock_timestamp(), pg_backend_pid(), clock_timestamp(), E'a''b:1', E'', E'{}')"
            ),
            "{text}"
        );
        assert!(refresh_sql("one", None).contains("NULL, NULL, NULL)"));
    }
}
