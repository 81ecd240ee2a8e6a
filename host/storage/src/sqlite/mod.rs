//! SQLite: one connection that writes, a thread that commits on it, threads that read, and short statements on the thread
//! that asks.
//!
//! No timer of the async runtime is used: deadlines are the database threads' own, so a test's stopped clock changes nothing.

mod connection;
mod conversation;
mod desk;
mod execute;
mod explain;
mod inline;
mod lock;
mod log;
mod member;
mod migrator;
mod queue;
mod reader;
mod watch;
mod work;
mod writer;

pub use self::{
    connection::open_reader,
    conversation::Conversation,
    explain::explain,
    lock::{DataLock, LockError, give_to_owner_of},
    migrator::applied_of,
};

use super::{
    DatabaseSettings, StorageError, Versions,
    check::Admitted,
    migrate::{AppliedMigration, MigrationReport, Step},
    scope::Triggers,
};
use connection::Guarded;
use desk::{Desk, DeskLimits};
use inline::Inline;
use parking_lot::Mutex;
use plugin_api::abi::Rows;
use reader::Readers;
use std::{
    num::NonZero,
    path::{Path, PathBuf},
    sync::Arc,
    thread::JoinHandle,
    time::Duration,
};
use tokio::sync::oneshot;
use work::Work;

pub struct Sqlite {
    inline: Inline,
    readers: Readers,
    desk: Arc<Desk>,
    versions: Arc<Versions>,
    /// The writer's, then the readers'.
    threads: Mutex<Vec<JoinHandle<()>>>,
    path: PathBuf,
    /// Given back when the file is closed.
    lock: Mutex<Option<DataLock>>,
}

impl Sqlite {
    /// Opens (and creates) the file. Blocks for a moment: the log of an unclean end is replayed here.
    pub fn open(path: &Path, settings: &DatabaseSettings) -> Result<Self, StorageError> {
        let lock = DataLock::shared(path)?;
        let guarded = connection::open_writer(path, settings)?;
        migrator::prepare(&guarded.connection)?;
        let versions: Arc<Versions> = Arc::default();
        let desk = Arc::new(desk(guarded, &versions, path.to_owned(), settings));
        let threads = std::thread::available_parallelism().map_or(2, NonZero::get);
        let inline: Result<_, _> = (0..threads).map(|_| connection::open_inline(path)).collect();
        let sqlite = Self {
            inline: Inline::new(inline?),
            readers: Readers::new(Duration::from_millis(settings.statement_timeout_ms)),
            desk: desk.clone(),
            versions,
            threads: Mutex::default(),
            path: path.to_owned(),
            lock: Mutex::new(Some(lock)),
        };
        sqlite.start("sqlite-write".into(), move || writer::run(&desk))?;
        for number in 0..settings.read_connections.max(1) {
            let worker = sqlite.readers.worker(connection::open_reader(path)?);
            sqlite.start(format!("sqlite-read-{number}"), worker)?;
        }
        Ok(sqlite)
    }

    fn start(&self, name: String, body: impl FnOnce() + Send + 'static) -> Result<(), StorageError> {
        let thread = std::thread::Builder::new()
            .name(name)
            .spawn(body)
            .map_err(|error| StorageError::Internal(format!("no thread: {error}")))?;
        self.threads.lock().push(thread);
        Ok(())
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The rows of a statement that is short enough to run here; nothing for others.
    pub fn read_now(&self, admitted: &Admitted) -> Option<Rows> {
        self.inline.read(admitted)
    }

    pub async fn read(&self, admitted: Admitted) -> Result<Rows, StorageError> {
        self.readers.read(admitted).await
    }

    pub fn versions(&self) -> &Arc<Versions> {
        &self.versions
    }

    /// A transaction of that plugin, or of the gateway itself.
    pub fn begin(&self, plugin: Option<&str>, triggers: Triggers) -> Conversation {
        Conversation::new(Arc::clone(&self.desk), plugin.map(|name| self.versions.of(name)), triggers)
    }

    pub async fn migrate(&self, owner: String, steps: Vec<Step>) -> Result<MigrationReport, StorageError> {
        self.with_writer(move |guarded| migrator::apply(guarded, &owner, steps)).await
    }

    pub async fn define(&self, sql: String) -> Result<(), StorageError> {
        self.with_writer(move |guarded| migrator::define(&guarded.connection, &sql)).await
    }

    pub async fn applied(&self, owner: Option<String>) -> Result<Vec<AppliedMigration>, StorageError> {
        self.with_writer(move |guarded| migrator::applied_of(&guarded.connection, owner.as_deref())).await
    }

    /// Whether every thread still runs.
    pub fn is_serving(&self) -> bool {
        self.threads.lock().iter().all(|thread| !thread.is_finished())
    }

    async fn with_writer<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Guarded) -> Result<T, StorageError> + Send + 'static,
    ) -> Result<T, StorageError> {
        let (reply, answer) = oneshot::channel();
        let versions = Arc::clone(&self.versions);
        let task = move |writer: &mut Work| {
            let under_way = versions.commit(vec![versions.everything()]);
            let result = writer.with_triggers().and_then(work);
            drop(under_way);
            let _ = reply.send(result);
        };
        self.desk.queue_task(Box::new(task)).map_err(reader::refused)?;
        answer.await.unwrap_or_else(|_| Err(reader::stopped()))
    }

    /// Serves what waits, then closes the file: the writer last, so that it can fold the log into the file.
    pub async fn close(&self) {
        let mut threads = std::mem::take(&mut *self.threads.lock());
        let readers = threads.split_off(threads.len().min(1));
        self.inline.close();
        self.readers.close();
        join(readers).await;
        self.desk.close();
        join(threads).await;
        self.lock.lock().take();
    }
}

impl Drop for Sqlite {
    fn drop(&mut self) {
        // The threads end by themselves once nobody waits for them.
        self.inline.close();
        self.readers.close();
        self.desk.close();
    }
}

fn desk(guarded: Guarded, versions: &Arc<Versions>, path: PathBuf, settings: &DatabaseSettings) -> Desk {
    let limits = DeskLimits {
        total: Duration::from_millis(settings.transaction_timeout_ms),
        idle: Duration::from_millis(settings.transaction_idle_ms),
        group_max: settings.write_group_max.max(1),
    };
    let statement_timeout = Duration::from_millis(settings.statement_timeout_ms);
    let settings = settings.clone();
    let reopen = Box::new(move || connection::open_writer(&path, &settings));
    Desk::new(Work::new(guarded, Arc::clone(versions), statement_timeout, reopen), limits)
}

async fn join(threads: Vec<JoinHandle<()>>) {
    let join = move || threads.into_iter().all(|thread| thread.join().is_ok());
    if !tokio::task::spawn_blocking(join).await.unwrap_or(false) {
        tracing::error!("a database thread panicked");
    }
}
