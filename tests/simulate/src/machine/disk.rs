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
        // One that has been deleted, or a folder.
        if !path.is_file() {
            return Ok(());
        }
        let copy = self.synced.join(place);
        if let Some(folder) = copy.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::copy(path, copy).map(drop)
    }
}
