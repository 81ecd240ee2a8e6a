//! What of a file is on the disk for sure: its bytes at its last sync. A power failure leaves no more.

use super::scheduler;
use nix::libc::c_int;
use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read as _},
    os::unix::fs::FileExt as _,
    path::{Path, PathBuf},
    sync::OnceLock,
};

struct Disk {
    root: PathBuf,
    synced: PathBuf,
}

const CHUNK_BYTES: usize = 256 * 1024;

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
        copy_changes(&path, &copy)
    }
}

/// Writes into the copy what differs there: most of a long file is as it was at the last sync.
fn copy_changes(path: &Path, copy: &Path) -> io::Result<()> {
    let mut source = File::open(path)?;
    let mut target = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(copy)?;
    target.set_permissions(source.metadata()?.permissions())?;
    let (mut now, mut before) = (vec![0; CHUNK_BYTES], vec![0; CHUNK_BYTES]);
    let mut place = 0;
    loop {
        let count = read_full(&mut source, &mut now)?;
        if count == 0 {
            return target.set_len(place);
        }
        if read_full(&mut target, &mut before)? < count || now[..count] != before[..count] {
            target.write_all_at(&now[..count], place)?;
        }
        place += count as u64;
    }
}

/// As much as there is, or as fits.
fn read_full(file: &mut File, bytes: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < bytes.len() {
        match file.read(&mut bytes[filled..])? {
            0 => break,
            count => filled += count,
        }
    }
    Ok(filled)
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
