//! The files of the repository. Rule: a check reports everything it found at once.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// What git ignores, and git itself.
const IGNORED: [&str; 8] =
    [".git", "target", "node_modules", "data", "dist", ".venv", "__pycache__", ".insta-snapshots-pending"];

pub struct File {
    /// Relative to the root, with `/`.
    pub path: String,
    pub text: String,
}

impl File {
    pub fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }

    pub fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }

    pub fn below(&self, folder: &str) -> bool {
        self.path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
    }
}

pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests/ lies in the repository")
}

pub fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

pub fn exists(path: &str) -> bool {
    root().join(path).exists()
}

/// Every text file that is ours.
pub fn files() -> Vec<File> {
    let mut files = Vec::new();
    collect(root(), &mut files);
    assert!(files.len() > 50, "only {} files found below {}", files.len(), root().display());
    files.sort_by(|one, other| one.path.cmp(&other.path));
    files
}

fn collect(folder: &Path, files: &mut Vec<File>) {
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let (path, name) = (entry.path(), entry.file_name());
        if IGNORED.iter().any(|ignored| name == *ignored) {
            continue;
        }
        if entry.file_type().unwrap().is_dir() {
            collect(&path, files);
        } else if let Ok(text) = fs::read_to_string(&path) {
            files.push(File { path: relative(&path), text });
        }
    }
}

fn relative(path: &Path) -> String {
    path.strip_prefix(root()).unwrap().to_string_lossy().into_owned()
}

/// Names of the plugins: the folders below plugins/.
pub fn plugins() -> Vec<String> {
    let entries = fs::read_dir(root().join("plugins")).unwrap().map(Result::unwrap);
    let folders: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    let mut names: Vec<String> =
        folders.iter().map(|path| path.file_name().unwrap().to_string_lossy().into_owned()).collect();
    names.sort();
    assert!(!names.is_empty(), "there is no plugin");
    names
}

/// Fails with the whole list.
pub fn assert_none(rule: &str, found: &[String]) {
    assert!(found.is_empty(), "{rule}:\n  {}", found.join("\n  "));
}
