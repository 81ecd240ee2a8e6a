//! The copies of plugin libraries that a gateway makes in its data folder. Those of all plugins are 230 MB: gateways of tests share
//! them by hard links, so that not each start writes its own.
//!
//! They lie beside the folders of tests, because no link leads to another file system.
//!
//! The rules: a gateway never writes a copy in place, and takes one only after it has compared its content. Where links are impossible,
//! or a copy is missing, it makes its own as ever.

use std::{
    env::{self, consts::DLL_SUFFIX},
    ffi::OsStr,
    fs::{self, DirBuilder, DirEntry},
    os::unix::fs::DirBuilderExt as _,
    path::{Path, PathBuf},
};

const OF_GATEWAY: &str = "run/plugins";
const HASH_DIGITS: usize = 64;
/// As the gateway makes it.
const MODE: u32 = 0o700;

/// Links what is shared into a data folder that has no copies yet.
pub fn lend(data_dir: &Path) {
    lend_from(&shared_folder(), data_dir);
}

fn lend_from(shared: &Path, data_dir: &Path) {
    let folder = data_dir.join(OF_GATEWAY);
    let shared = copies(shared);
    if shared.is_empty() || folder.exists() || make(&folder).is_err() {
        return;
    }
    for copy in shared {
        let _ = fs::hard_link(copy.path(), folder.join(copy.file_name()));
    }
}

/// Shares what a gateway has copied, in place of what earlier builds of the same plugins were.
pub fn share(data_dir: &Path) {
    share_in(&shared_folder(), data_dir);
}

fn share_in(folder: &Path, data_dir: &Path) {
    let mut made = copies(&data_dir.join(OF_GATEWAY));
    made.retain(|copy| !folder.join(copy.file_name()).exists());
    if made.is_empty() || make(folder).is_err() {
        return;
    }
    let shared = copies(folder);
    for copy in made {
        let name = copy.file_name();
        let older = shared.iter().filter(|older| plugin(&older.file_name()) == plugin(&name));
        older.for_each(|older| drop(fs::remove_file(older.path())));
        let _ = fs::hard_link(copy.path(), folder.join(name));
    }
}

/// `forum.so` of `HASH-forum.so`; none of a file that is still being written.
fn plugin(file: &OsStr) -> Option<String> {
    let (hash, plugin) = file.to_str()?.split_once('-')?;
    (hash.len() == HASH_DIGITS && plugin.ends_with(DLL_SUFFIX)).then(|| plugin.to_owned())
}

fn copies(folder: &Path) -> Vec<DirEntry> {
    let mut files: Vec<DirEntry> = fs::read_dir(folder).into_iter().flatten().flatten().collect();
    files.retain(|file| plugin(&file.file_name()).is_some());
    files
}

fn make(folder: &Path) -> std::io::Result<()> {
    DirBuilder::new().recursive(true).mode(MODE).create(folder)
}

fn shared_folder() -> PathBuf {
    env::temp_dir().join("gateway-test-plugin-copies")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn copies_are_told_from_other_files() {
        let hash = "ab".repeat(32);
        assert_eq!(plugin(OsStr::new(&format!("{hash}-my-forum.so"))).as_deref(), Some("my-forum.so"));
        for other in ["forum.so", "ab-forum.so", &format!("{hash}-forum.so.draft"), &hash] {
            assert_eq!(plugin(OsStr::new(other)), None, "{other}");
        }
    }

    #[test]
    fn a_new_build_takes_the_place_of_the_old_one() {
        let folder = tempfile::tempdir().unwrap();
        let copy = |digit: &str, plugin: &str| folder.path().join(format!("{}-{plugin}.so", digit.repeat(64)));
        for (digit, plugin) in [("1", "forum"), ("1", "hello"), ("2", "forum")] {
            fs::write(copy(digit, plugin), digit).unwrap();
        }
        let data_dir = tempfile::tempdir().unwrap();
        share_in(folder.path(), data_dir.path());
        assert_eq!(copies(folder.path()).len(), 3, "nothing was made");
        make(&data_dir.path().join(OF_GATEWAY)).unwrap();
        let made = data_dir.path().join(OF_GATEWAY).join(format!("{}-forum.so", "3".repeat(64)));
        fs::write(&made, "3").unwrap();
        share_in(folder.path(), data_dir.path());
        assert_eq!(fs::read_to_string(copy("3", "forum")).unwrap(), "3");
        assert!(!copy("1", "forum").exists() && !copy("2", "forum").exists() && copy("1", "hello").exists());

        let other = tempfile::tempdir().unwrap();
        lend_from(folder.path(), other.path());
        assert_eq!(copies(&other.path().join(OF_GATEWAY)).len(), 2);
    }
}
