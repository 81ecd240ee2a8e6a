//! The lock that a gateway has on a SQLite file as long as it runs. Without it two gateways would take jobs from each other, and each
//! would send what both find unsent.
//!
//! The rule: the operating system releases the lock when the process ends, however it ends. What is written in the file of the lock
//! only says who had it last.

use super::file_lock::open_lock_file;
use crate::{error::StorageError, host_name::host_name};
use plugin_api::host::sanitize_line;
use std::{
    fs::{File, TryLockError},
    io::{Read as _, Write as _},
    path::Path,
    thread,
    time::{Duration, Instant},
};

/// The file beside the database. Commands that run beside a gateway share another one.
const EXTENSION: &str = "run.lock";
/// A process that was killed has its locks until its memory is given back.
const RELEASE_WAIT: Duration = Duration::from_secs(3);
const POLL: Duration = Duration::from_millis(20);
/// Longest text about a holder.
const HOLDER_CHARS_MAX: usize = 100;

#[derive(Debug)]
pub(super) struct GatewayLock {
    _file: File,
}

impl GatewayLock {
    /// Blocks for some seconds while another process has it.
    pub(super) fn acquire(database: &Path) -> Result<Self, StorageError> {
        // By whatever link it is named.
        let database = &database.canonicalize().unwrap_or_else(|_missing| database.to_owned());
        let unavailable =
            |reason: std::io::Error| StorageError::Unavailable(format!("{}: its lock: {reason}", database.display()));
        let mut file = open_lock_file(database, EXTENSION).map_err(unavailable)?;
        let started = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) if started.elapsed() < RELEASE_WAIT => thread::sleep(POLL),
                Err(TryLockError::WouldBlock) => return Err(refusal(database, &mut file)),
                Err(TryLockError::Error(error)) => return Err(unavailable(error)),
            }
        }
        write_holder(&mut file);
        Ok(Self { _file: file })
    }
}

/// For the message that another process gets; without it that one only knows less.
fn write_holder(file: &mut File) {
    let holder = format!("process {} on {}\n", std::process::id(), host_name());
    let _ = file.set_len(0).and_then(|()| file.write_all(holder.as_bytes()));
}

fn refusal(database: &Path, file: &mut File) -> StorageError {
    let mut holder = String::new();
    // An unreadable or an empty file names nobody.
    let _ = file.take(1024).read_to_string(&mut holder);
    let holder = match sanitize_line(&holder, HOLDER_CHARS_MAX) {
        name if name.is_empty() => "another process".to_owned(),
        name => name,
    };
    StorageError::Unavailable(format!(
        "a gateway runs on {} already ({holder}), and a SQLite file is for one: stop that one first, or set another data_dir or \
         database.url; several gateways share PostgreSQL",
        database.display()
    ))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn one_has_it_and_the_next_learns_who() {
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join("gateway.db");
        // Longer than what is written: what an earlier holder wrote must not show through.
        std::fs::write(folder.path().join("gateway.db.run.lock"), format!("process 1 on {}\n", "x".repeat(300)))
            .unwrap();
        let gateway = GatewayLock::acquire(&database).unwrap();
        let refused = GatewayLock::acquire(&database).unwrap_err().to_string();
        let holder = format!("gateway.db already (process {} on ", std::process::id());
        assert!(refused.contains(&holder) && refused.contains("stop that one first"), "{refused}");
        assert!(!refused.contains("xxx"), "{refused}");
        drop(gateway);
        GatewayLock::acquire(&database).unwrap();
    }

    #[test]
    fn it_waits_for_one_that_is_ending() {
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join("gateway.db");
        let ending = GatewayLock::acquire(&database).unwrap();
        let next = thread::spawn({
            let database = database.clone();
            move || GatewayLock::acquire(&database)
        });
        thread::sleep(POLL * 10);
        assert!(!next.is_finished());
        drop(ending);
        next.join().unwrap().unwrap();
    }

    #[test]
    fn a_file_that_names_nobody_is_no_reason_to_fail() {
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join("gateway.db");
        let _gateway = GatewayLock::acquire(&database).unwrap();
        File::create(folder.path().join("gateway.db.run.lock")).unwrap().write_all(&[0xff, 0xfe]).unwrap();
        let refused = GatewayLock::acquire(&database).unwrap_err().to_string();
        assert!(refused.contains("gateway.db already (another process)"), "{refused}");
    }
}
