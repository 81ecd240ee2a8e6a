//! Opens connections to the file.
//!
//! The rule: every connection has the settings that durability and isolation need.

use super::{checkpoint::record_wal_pages, error::storage_error, interrupter::Interrupter};
use crate::{error::StorageError, settings::DatabaseSettings, statements::bounds::CALL_ROWS_BYTES_MAX};
use rusqlite::{Connection, OpenFlags, config::DbConfig, limits::Limit};
use std::{fs::OpenOptions, path::Path, time::Duration};

/// How long to wait for the write lock of another process.
pub(crate) const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
const STATEMENT_CACHE_COUNT: usize = 256;
const MMAP_BYTES: i64 = 256 * 1024 * 1024;
/// Page cache of the connection that writes: it reads its own recent writes from here and not from the log.
const WRITER_CACHE_KIB: i64 = 32 * 1024;
const WAL_FILE_BYTES_MAX: i64 = 64 * 1024 * 1024;

/// A connection and the interrupter of its running statement.
pub(crate) struct SqliteConnection {
    pub handle: Connection,
    pub interrupter: Interrupter,
}

impl SqliteConnection {
    /// Reads the schema, unless the current one is in memory. A statement that is interrupted while it reads the schema
    /// keeps none of it, and the next one would start again. Preparing is not enough: only a statement that runs
    /// notices a new schema.
    pub(crate) fn read_schema(&self) -> rusqlite::Result<()> {
        self.handle.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))
    }
}

pub(crate) fn open_writer(path: &Path, settings: &DatabaseSettings) -> Result<SqliteConnection, StorageError> {
    create_private(path)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).map_err(|e| storage_error(&e))?;
    prepare_writer(&connection, settings).map_err(|e| storage_error(&e))?;
    require_wal(&connection)?;
    with_interrupter(connection)
}

/// For a reader thread: it waits for locks.
pub(crate) fn open_reader(path: &Path) -> Result<SqliteConnection, StorageError> {
    open_read_only(path, BUSY_TIMEOUT)
}

/// For the threads that serve requests: it never waits for locks.
pub(crate) fn open_inline_reader(path: &Path) -> Result<SqliteConnection, StorageError> {
    open_read_only(path, Duration::ZERO)
}

fn open_read_only(path: &Path, busy_timeout: Duration) -> Result<SqliteConnection, StorageError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).map_err(|e| storage_error(&e))?;
    connection.busy_timeout(busy_timeout).map_err(|e| storage_error(&e))?;
    with_interrupter(connection)
}

/// The file contains private messages: only its owner may read it. SQLite gives its log the same permissions.
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
    // FULL syncs the log at every commit: acknowledged writes survive a power cut.
    let synchronous = if settings.synchronous_full { "full" } else { "normal" };
    connection.pragma_update(None, "synchronous", synchronous)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    // Triggers also run for the rows that INSERT OR REPLACE deletes.
    connection.pragma_update(None, "recursive_triggers", true)?;
    connection.pragma_update(None, "journal_size_limit", WAL_FILE_BYTES_MAX)?;
    connection.pragma_update(None, "cache_size", -WRITER_CACHE_KIB)?;
    // Replaces SQLite's own hook, which checkpoints inside COMMIT while the callers of the group wait.
    connection.wal_hook(Some(record_wal_pages));
    Ok(())
}

/// Concurrent readers need the write-ahead log; some network file systems do not support it.
fn require_wal(connection: &Connection) -> Result<(), StorageError> {
    let mode: String = connection
        .pragma_update_and_check(None, "journal_mode", "wal", |row| row.get(0))
        .map_err(|e| storage_error(&e))?;
    if mode == "wal" {
        return Ok(());
    }
    Err(StorageError::Unavailable(format!(
        "the file system does not allow SQLite's write-ahead log (journal mode {mode})"
    )))
}

fn with_interrupter(handle: Connection) -> Result<SqliteConnection, StorageError> {
    let interrupter = configure(&handle).map_err(|e| storage_error(&e))?;
    Ok(SqliteConnection { handle, interrupter })
}

fn configure(connection: &Connection) -> rusqlite::Result<Interrupter> {
    connection.set_prepared_statement_cache_capacity(STATEMENT_CACHE_COUNT);
    connection.pragma_update(None, "mmap_size", MMAP_BYTES)?;
    connection.pragma_update(None, "temp_store", "memory")?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    // Query plans depend on the statement alone. Otherwise SQLite compiles statements again for new parameter values.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    // "name" is always a name, as on PostgreSQL, and never a text when no column matches.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DQS_DML, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DQS_DDL, false)?;
    let bytes = i32::try_from(CALL_ROWS_BYTES_MAX).unwrap_or(i32::MAX);
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, bytes)?;
    Interrupter::install(connection)
}
