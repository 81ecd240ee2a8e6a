//! Tells whether a file that the configuration names was written, replaced or renamed, without reading it.

use std::{fs, os::unix::fs::MetadataExt as _, path::Path};

/// Two that are equal are of a file that nobody has changed meanwhile, its access rights included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileIdentity {
    device: u64,
    inode: u64,
    bytes: u64,
    modified_ns: (i64, i64),
    changed_ns: (i64, i64),
}

impl FileIdentity {
    /// `None` for a file that is not there.
    pub fn of(path: &Path) -> Option<Self> {
        let facts = fs::metadata(path).ok()?;
        Some(Self {
            device: facts.dev(),
            inode: facts.ino(),
            bytes: facts.len(),
            modified_ns: (facts.mtime(), facts.mtime_nsec()),
            changed_ns: (facts.ctime(), facts.ctime_nsec()),
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_another_one_once_it_was_written_or_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let (path, draft) = (dir.path().join("libforum.so"), dir.path().join("draft"));
        fs::write(&path, "one").unwrap();
        let first = FileIdentity::of(&path);
        assert!(first.is_some() && first == FileIdentity::of(&path));
        fs::write(&draft, "two").unwrap();
        fs::rename(&draft, &path).unwrap();
        let second = FileIdentity::of(&path);
        assert_ne!(first, second, "replaced by one of the same length");
        fs::write(&path, "three").unwrap();
        assert_ne!(second, FileIdentity::of(&path), "written");
        fs::remove_file(&path).unwrap();
        assert_eq!(FileIdentity::of(&path), None);
    }
}
