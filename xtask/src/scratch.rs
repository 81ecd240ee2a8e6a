//! Folders for the files of tests: in memory where there is room, because none of these files must survive a crash, and tests commit
//! thousands of times, each of which waits for a disk. Rule: a folder is deleted with its run; when that was killed, by the next run.

use crate::{Failure, process};
use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::Command,
};

/// The folder is called this, what it is for, and the process id of the xtask it belongs to.
const PREFIX: &str = "gateway-test-";
const MEMORY: &str = "/dev/shm";
const FREE_MEMORY_MIB_MIN: u64 = 6144;
/// Like /tmp: PostgreSQL's servers run as another user than tests that run as root.
const MODE: u32 = 0o1777;

pub struct Scratch {
    folder: PathBuf,
}

impl Scratch {
    pub fn create(purpose: &str) -> Result<Self, Failure> {
        delete_abandoned();
        let parent = if has_room_in_memory() { PathBuf::from(MEMORY) } else { std::env::temp_dir() };
        let folder = parent.join(format!("{PREFIX}{purpose}-{}", std::process::id()));
        let created =
            fs::create_dir(&folder).and_then(|()| fs::set_permissions(&folder, fs::Permissions::from_mode(MODE)));
        created.map_err(|error| format!("{}: {error}", folder.display()))?;
        Ok(Self { folder })
    }

    pub fn path(&self) -> &Path {
        &self.folder
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Tests load plugins from there too, which containers forbid in their memory.
fn has_room_in_memory() -> bool {
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    let free = process::output(Command::new("df").args(["--output=avail", "--block-size=1M", MEMORY]));
    let mib = free.ok().and_then(|table| table.lines().last()?.trim().parse().ok());
    runs_programs(&mounts) && mib.is_some_and(|mib: u64| mib >= FREE_MEMORY_MIB_MIN)
}

/// The last line about a folder is the one that counts.
fn runs_programs(mounts: &str) -> bool {
    let mut columns = mounts.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let memory = columns.rfind(|columns| columns.get(1) == Some(&MEMORY));
    memory
        .and_then(|columns| columns.get(3).copied())
        .is_some_and(|options| options.split(',').all(|it| it != "noexec"))
}

fn delete_abandoned() {
    let folders = [PathBuf::from(MEMORY), std::env::temp_dir()];
    for entry in folders.iter().flat_map(fs::read_dir).flatten().filter_map(Result::ok) {
        if entry.file_name().to_str().and_then(owner).is_some_and(|pid| !process::is_alive(pid)) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Tests call their own folders PREFIX and six letters: those have no owner.
fn owner(name: &str) -> Option<u32> {
    let (_, pid) = name.strip_prefix(PREFIX)?.rsplit_once('-')?;
    pid.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_names_its_owner() {
        assert_eq!(owner("gateway-test-postgres-17"), Some(17));
        assert_eq!(owner("gateway-test-123456"), None, "a test's folder of that random name");
        assert_eq!(owner("gateway-test-files-x"), None);
        assert_eq!(owner("files-17"), None);
    }

    #[test]
    fn memory_that_runs_no_programs_is_not_used() {
        let usual = "/dev/vda / ext4 rw 0 0\ntmpfs /dev/shm tmpfs rw,nosuid,nodev 0 0\n";
        assert!(runs_programs(usual));
        assert!(!runs_programs(&format!("{usual}shm /dev/shm tmpfs rw,nosuid,noexec,size=65536k 0 0\n")));
        assert!(!runs_programs("/dev/vda / ext4 rw 0 0\n"));
    }

    #[test]
    fn a_folder_is_gone_with_its_run() {
        let scratch = Scratch::create("xtask").unwrap_or_else(|failure| panic!("{failure}"));
        let folder = scratch.path().to_path_buf();
        assert!(folder.is_dir());
        drop(scratch);
        assert!(!folder.exists());
    }
}
