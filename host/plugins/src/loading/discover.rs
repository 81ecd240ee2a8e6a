//! Which files of a folder could be plugins.
//!
//! The rule: whatever looks like a plugin and is none is listed, so that its refusal is reported; a macro of the compiler, which cargo
//! puts beside plugins, is left out.

use super::inspect::{is_compiler_library, name_of_file};
use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// A file `lib<name>.so`, whether it is a plugin or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundLibrary {
    pub path: PathBuf,
    pub file_name: String,
}

impl FoundLibrary {
    /// The plugin's name as the file says: the key of its configuration.
    pub fn name(&self) -> &str {
        name_of_file(&self.file_name).unwrap_or(&self.file_name)
    }
}

#[derive(Debug, thiserror::Error)]
#[error("cannot read the plugin folder {} ({source}): set plugins.dir to a folder that the gateway may read", dir.display())]
pub struct DiscoverError {
    pub dir: PathBuf,
    pub source: io::Error,
}

/// The candidates of a folder (not of folders below), by file name.
pub fn discover(dir: &Path) -> Result<Vec<FoundLibrary>, DiscoverError> {
    let unreadable = |source| DiscoverError { dir: dir.to_owned(), source };
    let mut candidates = Vec::new();
    for entry in fs::read_dir(dir).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        candidates.extend(candidate(entry.path()));
    }
    candidates.sort_by(|one, other| one.file_name.cmp(&other.file_name));
    Ok(candidates)
}

fn candidate(path: PathBuf) -> Option<FoundLibrary> {
    let file_name = path.file_name()?.to_str()?.to_owned();
    name_of_file(&file_name)?;
    if path.is_dir() {
        return None;
    }
    if is_compiler_library(&path) {
        tracing::debug!(file = %path.display(), "not a plugin: a library for the compiler");
        return None;
    }
    Some(FoundLibrary { path, file_name })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn lists_what_could_be_a_plugin_in_order() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["libforum.so", "libagents.so", "libwork.dylib", "forum.so", "libforum.so.old", "lib.so", "README"]
        {
            fs::write(dir.path().join(name), "cut short").unwrap();
        }
        fs::create_dir(dir.path().join("libfolder.so")).unwrap();
        let found = discover(dir.path()).unwrap();
        let names: Vec<&str> = found.iter().map(FoundLibrary::name).collect();
        assert_eq!(names, ["agents", "forum", "work"]);
    }

    #[test]
    fn a_missing_folder_names_the_key() {
        let error = discover(Path::new("/no/such/folder")).unwrap_err().to_string();
        assert!(error.contains("/no/such/folder") && error.contains("plugins.dir"), "{error}");
        assert_eq!(error.lines().count(), 1);
    }
}
