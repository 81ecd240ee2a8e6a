//! Who may write the plugins' libraries: whoever can runs code in the gateway.

use super::discover::FoundLibrary;
use nix::unistd::geteuid;
use std::{
    fs, iter,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

const ROOT_UID: u32 = 0;
/// Write permission of group and others.
const OTHERS_WRITE: u32 = 0o022;

/// Logs the folder and the libraries that somebody besides root and the gateway's user may write.
pub(super) fn warn_of_other_writers(folder: &Path, candidates: &[FoundLibrary]) {
    for path in writable_by_others(folder, candidates) {
        tracing::warn!(
            path = %path.display(),
            "others than root and the gateway's user may write it, and so put code into the gateway: chmod go-w, or chown it"
        );
    }
}

fn writable_by_others(folder: &Path, candidates: &[FoundLibrary]) -> Vec<PathBuf> {
    let paths = iter::once(folder).chain(candidates.iter().map(|candidate| candidate.path.as_path()));
    paths.filter(|path| may_others_write(path)).map(Path::to_owned).collect()
}

/// A file whose permissions cannot be read cannot be loaded either, which is reported elsewhere.
fn may_others_write(path: &Path) -> bool {
    let Ok(facts) = fs::metadata(path) else { return false };
    facts.mode() & OTHERS_WRITE != 0 || ![ROOT_UID, geteuid().as_raw()].contains(&facts.uid())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use std::{fs::Permissions, os::unix::fs::PermissionsExt as _};

    #[test]
    fn what_others_may_write_is_listed() {
        let folder = tempfile::tempdir().unwrap();
        let candidates = ["libforum.so", "libagents.so"].map(|file_name| {
            let path = folder.path().join(file_name);
            fs::write(&path, "").unwrap();
            fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
            FoundLibrary { path, file_name: file_name.to_owned() }
        });
        let set = |path: &Path, mode| fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
        set(folder.path(), 0o755);
        assert_eq!(writable_by_others(folder.path(), &candidates), Vec::<PathBuf>::new());
        set(folder.path(), 0o775);
        set(&candidates[1].path, 0o757);
        assert_eq!(writable_by_others(folder.path(), &candidates), [folder.path(), candidates[1].path.as_path()]);
    }
}
