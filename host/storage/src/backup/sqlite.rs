//! Copies a SQLite file while other processes write to it, and replaces a SQLite file.

use super::{
    atomic_file::{AtomicFile, sync_folder},
    error::BackupError,
    restore_request::{RestoreReport, RestoreRequest},
};
use crate::{
    dialect::Dialect,
    error::StorageError,
    migrations::AppliedMigration,
    replace_file::remove_unfinished,
    restores,
    sqlite::{DatabaseFileLock, LockError, applied_migrations, give_to_owner_of, open_reader, storage_error},
};
use rusqlite::{
    Connection, OpenFlags,
    backup::{Backup, StepResult},
};
use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

/// Pages per step of a copy: some megabytes.
const PAGES_PER_STEP: std::ffi::c_int = 1024;
const BUSY_WAIT: std::time::Duration = std::time::Duration::from_millis(20);
const LOG_SUFFIXES: [&str; 2] = ["-wal", "-shm"];

/// Copies page by page, which keeps row ids (VACUUM INTO may change them). The surrounding read transaction holds one
/// snapshot: no writer waits for the copy, and no write restarts it.
/// Returns the applied migrations.
pub(crate) fn copy(source: &Path, backup: &AtomicFile) -> Result<Vec<AppliedMigration>, BackupError> {
    let from = open_reader(source)?.handle;
    from.execute_batch("BEGIN; SELECT count(*) FROM sqlite_schema").map_err(|error| storage_error(&error))?;
    let mut to = open(backup.path()).map_err(|error| backup.error(storage_error(&error)))?;
    copy_pages(&from, &mut to).map_err(|error| copy_error(backup, &error))?;
    drop(to);
    // Reads the file again, as a restore does.
    verify(backup.path()).map_err(|reason| backup.error(format!("the copy is not sound: {reason}")))
}

fn copy_pages(from: &Connection, to: &mut Connection) -> rusqlite::Result<()> {
    // No other process uses the file until it is synced and renamed.
    to.execute_batch("PRAGMA synchronous = off")?;
    let pages = Backup::new(from, to)?;
    loop {
        match pages.step(PAGES_PER_STEP)? {
            StepResult::Done => return Ok(()),
            StepResult::More => {}
            // Another process is running a checkpoint.
            _ => std::thread::sleep(BUSY_WAIT),
        }
    }
}

fn copy_error(backup: &AtomicFile, error: &rusqlite::Error) -> BackupError {
    match storage_error(error) {
        StorageError::Unavailable(reason) => backup.error(reason),
        other => other.into(),
    }
}

fn open(path: &Path) -> rusqlite::Result<Connection> {
    Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX)
}

/// Verifies a file that no other process has open, and removes its WAL. Returns its applied migrations.
fn verify(path: &Path) -> Result<Vec<AppliedMigration>, String> {
    let reason = |error: rusqlite::Error| match storage_error(&error) {
        StorageError::Internal(_) => "the file is damaged".to_owned(),
        other => other.to_string(),
    };
    let connection = open(path).map_err(reason)?;
    connection.pragma_update_and_check(None, "journal_mode", "delete", |_| Ok(())).map_err(reason)?;
    let mut messages = Vec::new();
    let add_message = |row: &rusqlite::Row<'_>| {
        messages.push(row.get::<_, String>(0)?);
        Ok(())
    };
    connection.pragma(None, "integrity_check", 1, add_message).map_err(reason)?;
    if messages != ["ok"] {
        return Err(format!("the file is damaged: {}", messages.join("; ")));
    }
    let is_gateway_database = connection.table_exists(None, "_migrations").map_err(reason)?;
    if !is_gateway_database {
        return Err("it is another program's database".to_owned());
    }
    applied_migrations(&connection, None).map_err(|error| error.to_string())
}

pub(crate) fn restore(request: &RestoreRequest<'_>) -> Result<RestoreReport, BackupError> {
    let path = request.settings.sqlite_path()?;
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(|error| BackupError::target(&path, error))?;
    }
    let _lock = DatabaseFileLock::exclusive(&path).map_err(|error| match error {
        LockError::InUse => BackupError::InUse,
        LockError::Failed(error) => BackupError::target(&path, error),
    })?;
    let has_data = path.exists() || with_suffix(&path, "-wal").exists();
    if has_data && !request.overwrite {
        return Err(BackupError::HasData);
    }
    if size(&with_suffix(request.file, "-wal")) > 0 {
        return Err(request.not_a_backup("it is a database in use, with a WAL beside it: make a backup of it"));
    }
    remove_unfinished(&path);
    let new_data = copy_backup(request, &path)?;
    let applied = verify(new_data.path()).map_err(|reason| request.not_a_backup(reason))?;
    let unknown_plugins = request.check_applied(&applied, Dialect::Sqlite)?;
    record_restore(request, &new_data)?;
    let old_data = if has_data { Some(keep_old_data(&path, request.label)?) } else { None };
    new_data.persist()?;
    Ok(RestoreReport {
        old_data: old_data.map(|file| file.display().to_string()),
        unknown_plugins,
        has_manifest: false,
    })
}

/// Copies the backup beside the database, so that the file that is verified is the file that will be used.
fn copy_backup(request: &RestoreRequest<'_>, path: &Path) -> Result<AtomicFile, BackupError> {
    let mut backup =
        File::open(request.file).map_err(|source| BackupError::Source { path: request.file.to_owned(), source })?;
    let mut copy = AtomicFile::new(path, true)?;
    io::copy(&mut backup, copy.file()).map_err(|error| copy.error(error))?;
    give_to_owner_of(path, copy.file());
    Ok(copy)
}

/// In the file that is not the database yet, so that a restore without its record cannot be.
fn record_restore(request: &RestoreRequest<'_>, new_data: &AtomicFile) -> Result<(), BackupError> {
    let recorded = open(new_data.path()).and_then(|file| file.execute_batch(&restores::record_text(request.now_ms)));
    recorded.map_err(|error| new_data.error(storage_error(&error)))
}

/// Gives the old database a second name. It keeps its first name until the new database takes that in one step. Its WAL
/// must be gone by then, or SQLite would apply it to the new database.
fn keep_old_data(path: &Path, label: &str) -> Result<PathBuf, BackupError> {
    let old_data = with_suffix(path, &format!(".before-restore-{label}"));
    if let Err(error) = checkpoint(path) {
        tracing::warn!(%error, "the WAL of the old database cannot be checkpointed; it is kept beside it");
    }
    for suffix in LOG_SUFFIXES {
        let old = with_suffix(path, suffix);
        if old.exists() {
            fs::rename(&old, with_suffix(&old_data, suffix)).map_err(|error| BackupError::target(&old, error))?;
        }
    }
    if path.exists() {
        // Not every file system supports hard links.
        fs::hard_link(path, &old_data)
            .or_else(|_no_links| copy_synced(path, &old_data))
            .map_err(|error| BackupError::target(&old_data, error))?;
    }
    sync_folder(path)?;
    Ok(old_data)
}

fn copy_synced(from: &Path, to: &Path) -> io::Result<()> {
    fs::copy(from, to)?;
    File::open(to)?.sync_all()
}

/// Checkpoints the log; closing the last connection removes it.
fn checkpoint(path: &Path) -> rusqlite::Result<()> {
    let connection = open(path)?;
    connection.pragma(None, "wal_checkpoint", "TRUNCATE", |_| Ok(()))?;
    connection.close().map_err(|(_, error)| error)
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

fn size(path: &Path) -> u64 {
    path.metadata().map_or(0, |metadata| metadata.len())
}
