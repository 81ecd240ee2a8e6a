//! What of a file is on the disk for sure: its bytes at its last sync. A power failure leaves no more.

use super::scheduler;
use nix::libc::c_int;
use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::OnceLock,
};

struct Disk {
    root: PathBuf,
    synced: PathBuf,
}

static DISK: OnceLock<Disk> = OnceLock::new();

/// Every file below `root` that is synced from now on has a copy of that moment below `synced`, at the same place.
pub fn keep_synced(root: &Path, synced: &Path) {
    DISK.get_or_init(|| Disk { root: root.to_owned(), synced: synced.to_owned() });
}

pub(super) fn note_sync(file: c_int) {
    if let Some(disk) = DISK.get()
        && disk.keep(file).is_err()
    {
        scheduler::give_up("what was synced cannot be kept");
    }
}

impl Disk {
    fn keep(&self, file: c_int) -> io::Result<()> {
        let path = fs::read_link(format!("/proc/self/fd/{file}"))?;
        let Ok(place) = path.strip_prefix(&self.root) else { return Ok(()) };
        let copy = self.synced.join(place);
        if path.is_dir() && copy.is_dir() {
            return forget_deleted(&path, &copy);
        }
        // One that has been deleted.
        if !path.is_file() {
            return Ok(());
        }
        if let Some(folder) = copy.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::copy(path, copy).map(drop)
    }
}

/// From the sync of their folder on, deleted files stay away: SQLite's journal of the change to its write-ahead log would undo that change.
fn forget_deleted(folder: &Path, copy: &Path) -> io::Result<()> {
    for entry in fs::read_dir(copy)? {
        let entry = entry?;
        if entry.file_type()?.is_file() && !folder.join(entry.file_name()).exists() {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}
