//! A SQLite file while others write to it, and a SQLite file in the place of another.

use super::{
    BackupError, Restore, Restored,
    draft::{self, Draft, sync_folder},
};
use crate::sqlite::{DataLock, LockError, applied_of, explain, give_to_owner_of, open_reader};
use crate::{AppliedMigration, Dialect, StorageError};
use rusqlite::{
    Connection, OpenFlags,
    backup::{Backup, StepResult},
};
use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

/// Pages between two looks of the copy at the world: some megabytes.
const PAGES_PER_STEP: std::ffi::c_int = 1024;
const BUSY_WAIT: std::time::Duration = std::time::Duration::from_millis(20);
const BESIDE: [&str; 2] = ["-wal", "-shm"];

/// Copies page by page, which keeps row ids as they are (VACUUM INTO may number them anew). The read transaction around it
/// holds one snapshot: no writer waits for it, and no write makes the copy start again.
pub fn copy(source: &Path, draft: &Draft) -> Result<(), BackupError> {
    let from = open_reader(source)?.connection;
    from.execute_batch("BEGIN; SELECT count(*) FROM sqlite_schema").map_err(|error| explain(&error))?;
    let mut to = open(draft.path()).map_err(|error| draft.failed(explain(&error)))?;
    copy_pages(&from, &mut to).map_err(|error| copy_failed(draft, &error))?;
    drop(to);
    // Read again from the disk, as a restore will.
    examine(draft.path()).map(drop).map_err(|reason| draft.failed(format!("the copy is not sound: {reason}")))
}

fn copy_pages(from: &Connection, to: &mut Connection) -> rusqlite::Result<()> {
    // The file is nobody's until it is synced and renamed: a journal would be for nothing.
    to.execute_batch("PRAGMA synchronous = off")?;
    let pages = Backup::new(from, to)?;
    loop {
        match pages.step(PAGES_PER_STEP)? {
            StepResult::Done => return Ok(()),
            StepResult::More => {}
            // Another process folds its log just now.
            _ => std::thread::sleep(BUSY_WAIT),
        }
    }
}

fn copy_failed(draft: &Draft, error: &rusqlite::Error) -> BackupError {
    match explain(error) {
        StorageError::Unavailable(reason) => draft.failed(reason),
        other => other.into(),
    }
}

fn open(path: &Path) -> rusqlite::Result<Connection> {
    Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX)
}

/// Reads all of a file that nobody else has open, leaves it without a log, and answers which migrations it has seen.
fn examine(path: &Path) -> Result<Vec<AppliedMigration>, String> {
    let problem = |error: rusqlite::Error| match explain(&error) {
        StorageError::Internal(_) => "the file is damaged".to_owned(),
        other => other.to_string(),
    };
    let connection = open(path).map_err(problem)?;
    connection.pragma_update_and_check(None, "journal_mode", "delete", |_| Ok(())).map_err(problem)?;
    let mut found = Vec::new();
    let note = |row: &rusqlite::Row<'_>| {
        found.push(row.get::<_, String>(0)?);
        Ok(())
    };
    connection.pragma(None, "integrity_check", 1, note).map_err(problem)?;
    if found != ["ok"] {
        return Err(format!("the file is damaged: {}", found.join("; ")));
    }
    let is_ours = connection.table_exists(None, "_migrations").map_err(problem)?;
    if !is_ours {
        return Err("it is another program's database".to_owned());
    }
    applied_of(&connection, None).map_err(|error| error.to_string())
}

pub fn restore(order: &Restore<'_>) -> Result<Restored, BackupError> {
    let path = order.settings.sqlite_path()?;
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(|error| draft::failed(&path, error))?;
    }
    let _alone = DataLock::exclusive(&path).map_err(|error| match error {
        LockError::Taken => BackupError::InUse,
        LockError::Failed(error) => draft::failed(&path, error),
    })?;
    let is_there = path.exists() || beside(&path, "-wal").exists();
    if is_there && !order.overwrites {
        return Err(BackupError::HasData);
    }
    if size(&beside(order.file, "-wal")) > 0 {
        return Err(order.not_a_backup("it is a database in use, with a log beside it: make a backup of it"));
    }
    draft::clear_leftovers(&path);
    let draft = fetch(order, &path)?;
    let applied = examine(draft.path()).map_err(|reason| order.not_a_backup(reason))?;
    let unknown_plugins = order.check_known(&applied, Dialect::Sqlite)?;
    let kept = if is_there { Some(set_aside(&path, order.label)?) } else { None };
    draft.publish()?;
    Ok(Restored { kept: kept.map(|kept| kept.display().to_string()), unknown_plugins })
}

/// A copy beside the database, so that what is checked is what will be used.
fn fetch(order: &Restore<'_>, path: &Path) -> Result<Draft, BackupError> {
    let mut backup =
        File::open(order.file).map_err(|source| BackupError::Source { path: order.file.to_owned(), source })?;
    let mut draft = Draft::new(path, true)?;
    io::copy(&mut backup, draft.file()).map_err(|error| draft.failed(error))?;
    give_to_owner_of(path, draft.file());
    Ok(draft)
}

/// Gives the old database a second name. Its first one stays until the new database takes it, in one step; but its log must
/// be gone by then, or SQLite would apply it to the new one.
fn set_aside(path: &Path, label: &str) -> Result<PathBuf, BackupError> {
    let kept = beside(path, &format!(".before-restore-{label}"));
    if let Err(error) = fold_log(path) {
        tracing::warn!(%error, "the log of the old database cannot be folded into it; it is kept beside it");
    }
    for name in BESIDE {
        let old = beside(path, name);
        if old.exists() {
            fs::rename(&old, beside(&kept, name)).map_err(|error| draft::failed(&old, error))?;
        }
    }
    if path.exists() {
        // Not every file system knows second names.
        fs::hard_link(path, &kept)
            .or_else(|_no_links| copy_synced(path, &kept))
            .map_err(|error| draft::failed(&kept, error))?;
    }
    sync_folder(path)?;
    Ok(kept)
}

fn copy_synced(from: &Path, to: &Path) -> io::Result<()> {
    fs::copy(from, to)?;
    File::open(to)?.sync_all()
}

/// Closing the last connection removes the log.
fn fold_log(path: &Path) -> rusqlite::Result<()> {
    let connection = open(path)?;
    connection.pragma(None, "wal_checkpoint", "TRUNCATE", |_| Ok(()))?;
    connection.close().map_err(|(_, error)| error)
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

fn size(path: &Path) -> u64 {
    path.metadata().map_or(0, |metadata| metadata.len())
}
