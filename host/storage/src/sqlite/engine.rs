//! The open SQLite file: its connections and threads.

use super::{
    connection::{self, SqliteConnection},
    error::database_closed,
    file_lock::DatabaseFileLock,
    gateway_lock::GatewayLock,
    inline_reader::InlineReader,
    migrator,
    reader_pool::ReaderPool,
    transaction::SqliteTransaction,
    transaction_handle::TransactionHandle,
    write_scheduler::{WriteLimits, WriteScheduler},
    writer_connection::WriterConnection,
    writer_thread,
};
use crate::{
    caching::revisions::Revisions,
    check::CheckedStatement,
    database::resources::DatabaseResources,
    error::StorageError,
    migrations::{AppliedMigration, MigrationReport, RenderedMigration},
    scope::Scope,
    settings::DatabaseSettings,
    statements::slow_statement::SlowStatementLog,
};
use parking_lot::Mutex;
use plugin_api::abi::Rows;
use std::{
    fs,
    num::NonZero,
    path::{Path, PathBuf},
    sync::Arc,
    thread::JoinHandle,
    time::Duration,
};
use tokio::sync::oneshot;

/// How much longer than a statement may run a transaction waits for the writer, as with the connections of PostgreSQL.
const WAIT_GRACE: Duration = Duration::from_secs(5);

/// Who opens a database.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Opener {
    Gateway,
    /// What may run beside a gateway.
    Command,
}

pub(crate) struct SqliteEngine {
    inline_reader: InlineReader,
    reader_pool: ReaderPool,
    scheduler: Arc<WriteScheduler>,
    revisions: Arc<Revisions>,
    /// The writer thread, then the reader threads.
    threads: Mutex<Vec<JoinHandle<()>>>,
    path: PathBuf,
    /// Released when the file is closed.
    locks: Mutex<Option<(DatabaseFileLock, Option<GatewayLock>)>>,
}

impl SqliteEngine {
    /// Opens the file, and creates it if it is missing. Blocks while SQLite recovers the WAL after an unclean end.
    pub(crate) fn open(path: &Path, settings: &DatabaseSettings, opener: Opener) -> Result<Self, StorageError> {
        // First, so that one that waits for a gateway's end does not keep the file from a restore.
        let gateway_lock = (opener == Opener::Gateway).then(|| GatewayLock::acquire(path)).transpose()?;
        let file_lock = DatabaseFileLock::shared(path)?;
        let writer = connection::open_writer(path, settings)?;
        migrator::create_migrations_table(&writer.handle)?;
        let revisions: Arc<Revisions> = Arc::default();
        let scheduler = Arc::new(new_scheduler(writer, &revisions, path.to_owned(), settings));
        let slow_statements = SlowStatementLog::new(settings);
        let parallelism = std::thread::available_parallelism().map_or(2, NonZero::get);
        let inline_readers: Result<_, _> = (0..parallelism).map(|_| connection::open_inline_reader(path)).collect();
        let sqlite = Self {
            inline_reader: InlineReader::new(inline_readers?, slow_statements),
            reader_pool: ReaderPool::new(Duration::from_millis(settings.statement_timeout_ms), slow_statements),
            scheduler: scheduler.clone(),
            revisions,
            threads: Mutex::default(),
            path: path.to_owned(),
            locks: Mutex::new(Some((file_lock, gateway_lock))),
        };
        sqlite.spawn("sqlite-write".into(), move || writer_thread::run(&scheduler))?;
        for number in 0..settings.read_connections.max(1) {
            let worker = sqlite.reader_pool.worker(connection::open_reader(path)?);
            sqlite.spawn(format!("sqlite-read-{number}"), worker)?;
        }
        Ok(sqlite)
    }

    /// Whether [`Self::open`] could open the file: read it if it is there, or create it in a folder that is there.
    pub(crate) fn check(path: &Path) -> Result<(), StorageError> {
        if path.exists() {
            rustix::fs::access(path, rustix::fs::Access::WRITE_OK)
                .map_err(|error| StorageError::Unavailable(format!("{} cannot be written: {error}", path.display())))?;
            let reader = connection::open_reader(path)?.handle;
            return reader
                .execute_batch("SELECT count(*) FROM sqlite_schema")
                .map_err(|error| super::error::storage_error(&error));
        }
        // `data_dir` itself is created at the start.
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        if folder.is_dir() || folder.parent().is_none_or(|above| above.as_os_str().is_empty() || above.is_dir()) {
            return Ok(());
        }
        Err(StorageError::Unavailable(format!("there is no folder {}", folder.display())))
    }

    /// See [`crate::Database::peek_texts`].
    pub(crate) fn peek_texts(path: &Path, table: &str, query: &str) -> Result<Vec<String>, StorageError> {
        if !path.exists() {
            return Ok(Vec::new());
        }
        let reader = connection::open_reader(path)?.handle;
        let peek = || {
            let is_there = "SELECT count(*) FROM sqlite_schema WHERE name = ?1";
            if reader.query_row(is_there, [table], |row| row.get::<_, i64>(0))? == 0 {
                return Ok(Vec::new());
            }
            reader.prepare(query)?.query_map([], |row| row.get(0))?.collect()
        };
        peek().map_err(|error: rusqlite::Error| super::error::storage_error(&error))
    }

    fn spawn(&self, name: String, body: impl FnOnce() + Send + 'static) -> Result<(), StorageError> {
        let thread = std::thread::Builder::new()
            .name(name)
            .spawn(body)
            .map_err(|error| StorageError::Internal(format!("no thread: {error}")))?;
        self.threads.lock().push(thread);
        Ok(())
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn resources(&self) -> DatabaseResources {
        let bytes = |path: &Path| fs::metadata(path).map(|file| file.len()).ok();
        let mut log = self.path.clone().into_os_string();
        log.push("-wal");
        DatabaseResources {
            file_bytes: bytes(&self.path),
            wal_bytes: bytes(Path::new(&log)),
            free_disk_bytes: self.free_disk_bytes(),
            pool: None,
        }
    }

    /// What this user may still write on the disk of the file.
    pub(crate) fn free_disk_bytes(&self) -> Option<u64> {
        let disk = rustix::fs::statvfs(&self.path).ok()?;
        Some(disk.f_bavail.saturating_mul(disk.f_frsize))
    }

    /// The rows of a statement that is fast enough for the calling thread; `None` for others.
    pub(crate) fn try_read(&self, statement: &CheckedStatement) -> Option<Rows> {
        self.inline_reader.read(statement)
    }

    pub(crate) async fn read(&self, statement: CheckedStatement) -> Result<Rows, StorageError> {
        self.reader_pool.read(statement).await
    }

    pub(crate) fn revisions(&self) -> &Arc<Revisions> {
        &self.revisions
    }

    pub(crate) fn begin(&self, scope: &Scope) -> SqliteTransaction {
        let owner = scope.plugin_name().map(|name| self.revisions.of(name));
        let handle = TransactionHandle::new(owner, self.revisions.everything(), scope.time_factor());
        SqliteTransaction::new(Arc::clone(&self.scheduler), handle)
    }

    pub(crate) async fn migrate(
        &self,
        owner: String,
        steps: Vec<RenderedMigration>,
    ) -> Result<MigrationReport, StorageError> {
        self.run_on_writer(move |connection| migrator::apply(&connection.handle, &owner, steps)).await
    }

    pub(crate) async fn execute_batch(
        &self,
        sql: String,
        statements: Vec<CheckedStatement>,
    ) -> Result<(), StorageError> {
        self.run_on_writer(move |connection| migrator::execute_batch(&connection.handle, &sql, &statements)).await
    }

    pub(crate) async fn applied_migrations(
        &self,
        owner: Option<String>,
    ) -> Result<Vec<AppliedMigration>, StorageError> {
        self.run_on_writer(move |connection| migrator::applied_migrations(&connection.handle, owner.as_deref())).await
    }

    pub(crate) fn are_threads_running(&self) -> bool {
        self.threads.lock().iter().all(|thread| !thread.is_finished())
    }

    /// Ends the writer thread as a fault in the gateway's own code does.
    #[cfg(test)]
    #[allow(clippy::panic, reason = "the fault of a test")]
    pub async fn end_writer_thread(&self) {
        let fault = |_: &SqliteConnection| -> Result<(), StorageError> { panic!("a fault") };
        let _ = self.run_on_writer(fault).await;
    }

    /// Runs the work on the writer thread, between groups. It may change any table.
    async fn run_on_writer<T: Send + 'static>(
        &self,
        work: impl FnOnce(&SqliteConnection) -> Result<T, StorageError> + Send + 'static,
    ) -> Result<T, StorageError> {
        let (reply, response) = oneshot::channel();
        let revisions = Arc::clone(&self.revisions);
        let task = move |writer: &mut WriterConnection| {
            let in_progress = revisions.begin_commit(vec![revisions.everything()]);
            let result = work(writer.for_task());
            drop(in_progress);
            let _ = reply.send(result);
        };
        self.scheduler.queue_task(Box::new(task))?;
        response.await.unwrap_or_else(|_| Err(database_closed()))
    }

    /// Finishes the waiting calls, then closes the file. The writer closes last, so that it can checkpoint the log.
    pub(crate) async fn close(&self) {
        let mut threads = std::mem::take(&mut *self.threads.lock());
        let readers = threads.split_off(threads.len().min(1));
        self.inline_reader.close();
        self.reader_pool.close();
        join(readers).await;
        self.scheduler.close();
        join(threads).await;
        self.locks.lock().take();
    }
}

impl Drop for SqliteEngine {
    fn drop(&mut self) {
        // The threads end by themselves once no call waits for them.
        self.inline_reader.close();
        self.reader_pool.close();
        self.scheduler.close();
    }
}

fn new_scheduler(
    connection: SqliteConnection,
    revisions: &Arc<Revisions>,
    path: PathBuf,
    settings: &DatabaseSettings,
) -> WriteScheduler {
    let limits = WriteLimits {
        wait_timeout: Duration::from_millis(settings.statement_timeout_ms) + WAIT_GRACE,
        transaction_timeout: Duration::from_millis(settings.transaction_timeout_ms),
        idle_timeout: Duration::from_millis(settings.transaction_idle_ms),
        group_max: settings.write_group_max.max(1),
    };
    let statement_timeout = Duration::from_millis(settings.statement_timeout_ms);
    let slow_statements = SlowStatementLog::new(settings);
    let settings = settings.clone();
    let reopen = Box::new(move || connection::open_writer(&path, &settings));
    let writer = WriterConnection::new(connection, Arc::clone(revisions), statement_timeout, slow_statements, reopen);
    WriteScheduler::new(writer, limits)
}

async fn join(threads: Vec<JoinHandle<()>>) {
    let join = move || threads.into_iter().all(|thread| thread.join().is_ok());
    if !tokio::task::spawn_blocking(join).await.unwrap_or(false) {
        tracing::error!("a database thread panicked");
    }
}
