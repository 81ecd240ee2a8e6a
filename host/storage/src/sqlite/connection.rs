//! Opens connections to the file, with the settings that durability and isolation need.

use super::{explain::explain, log, watch::Watch};
use crate::limits::ROWS_BYTES_MAX;
use crate::{DatabaseSettings, StorageError};
use rusqlite::{Connection, OpenFlags, config::DbConfig, limits::Limit};
use std::{fs::OpenOptions, path::Path, time::Duration};

/// How long to wait for another process that holds the write lock.
pub const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
const STATEMENT_CACHE_COUNT: usize = 256;
const MMAP_BYTES: i64 = 256 * 1024 * 1024;
/// Of the connection that writes: what it reads again comes from here and not out of the log.
const WRITER_CACHE_KIB: i64 = 32 * 1024;
const WAL_BYTES_KEPT: i64 = 64 * 1024 * 1024;

/// A connection and the watch over its running statement.
pub struct Guarded {
    pub connection: Connection,
    pub watch: Watch,
}

impl Guarded {
    /// Reads the schema, unless today's is in memory. A statement that is stopped while it reads the schema leaves none of it,
    /// and the next one would begin anew. Preparing is not enough: only what runs sees that the schema is another one.
    pub fn read_schema(&self) -> rusqlite::Result<()> {
        self.connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))
    }
}

pub fn open_writer(path: &Path, settings: &DatabaseSettings) -> Result<Guarded, StorageError> {
    create_private(path)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).map_err(|e| explain(&e))?;
    prepare_writer(&connection, settings).map_err(|e| explain(&e))?;
    require_log(&connection)?;
    guard(connection)
}

/// For a thread of its own: it waits for locks.
pub fn open_reader(path: &Path) -> Result<Guarded, StorageError> {
    open_read_only(path, BUSY_TIMEOUT)
}

/// For the threads that serve requests: it never waits.
pub fn open_inline(path: &Path) -> Result<Guarded, StorageError> {
    open_read_only(path, Duration::ZERO)
}

fn open_read_only(path: &Path, busy_timeout: Duration) -> Result<Guarded, StorageError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).map_err(|e| explain(&e))?;
    connection.busy_timeout(busy_timeout).map_err(|e| explain(&e))?;
    guard(connection)
}

/// The file holds private messages: only its owner may read it. SQLite gives its log the same rights.
fn create_private(path: &Path) -> Result<(), StorageError> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(path) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(StorageError::Unavailable(format!("{} cannot be created: {error}", path.display()))),
    }
}

fn prepare_writer(connection: &Connection, settings: &DatabaseSettings) -> rusqlite::Result<()> {
    connection.busy_timeout(BUSY_TIMEOUT)?;
    // FULL syncs the log at every commit: what was acknowledged survives a power cut.
    let synchronous = if settings.synchronous_full { "full" } else { "normal" };
    connection.pragma_update(None, "synchronous", synchronous)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    // The rows that INSERT OR REPLACE takes away are seen by triggers, too.
    connection.pragma_update(None, "recursive_triggers", true)?;
    connection.pragma_update(None, "journal_size_limit", WAL_BYTES_KEPT)?;
    connection.pragma_update(None, "cache_size", -WRITER_CACHE_KIB)?;
    // In place of SQLite's own, which folds the log into the file inside of COMMIT, while the group waits for its answer.
    connection.wal_hook(Some(log::note_pages));
    Ok(())
}

/// Readers beside the writer need the write-ahead log; some network file systems cannot have one.
fn require_log(connection: &Connection) -> Result<(), StorageError> {
    let mode: String =
        connection.pragma_update_and_check(None, "journal_mode", "wal", |row| row.get(0)).map_err(|e| explain(&e))?;
    if mode == "wal" {
        return Ok(());
    }
    Err(StorageError::Unavailable(format!(
        "the file system does not allow SQLite's write-ahead log (journal mode {mode})"
    )))
}

fn guard(connection: Connection) -> Result<Guarded, StorageError> {
    let watch = harden(&connection).map_err(|e| explain(&e))?;
    Ok(Guarded { connection, watch })
}

fn harden(connection: &Connection) -> rusqlite::Result<Watch> {
    connection.set_prepared_statement_cache_capacity(STATEMENT_CACHE_COUNT);
    connection.pragma_update(None, "mmap_size", MMAP_BYTES)?;
    connection.pragma_update(None, "temp_store", "memory")?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    // A plan follows from the statement alone. Else SQLite compiles statements again for new values of their parameters.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    // "name" is a name, never a text that happens to match no column: as on PostgreSQL.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DQS_DML, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DQS_DDL, false)?;
    let bytes = i32::try_from(ROWS_BYTES_MAX).unwrap_or(i32::MAX);
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, bytes)?;
    Watch::over(connection)
}
