//! Collects what is wrong with the values. Rule: a check reports and goes on, so that the operator sees all problems in one
//! run.

use std::path::{Path, PathBuf};

use super::{
    problem::{Problem, Problems},
    sources::Sources,
};

/// Names with each problem the layer that set the key.
pub(super) struct Validator<'a> {
    sources: &'a Sources,
    problems: Vec<Problem>,
}

impl<'a> Validator<'a> {
    pub(super) fn new(sources: &'a Sources) -> Self {
        Self { sources, problems: Vec::new() }
    }

    pub(super) fn into_result(self) -> Result<(), Problems> {
        Problems::into_result(self.problems)
    }

    pub(super) fn refuse(&mut self, key: &str, message: String, hint: impl Into<String>) {
        self.problems.push(Problem::new(key, self.sources.of(key), message, hint));
    }

    /// A text of one line: not empty, no line break, at most 100 characters.
    pub(super) fn check_one_line(&mut self, key: &str, text: &str) {
        if text.trim().is_empty() || text.chars().any(char::is_control) || text.chars().count() > 100 {
            self.refuse(
                key,
                format!("{text:?} is not one line of text"),
                "write 1 to 100 characters without line breaks",
            );
        }
    }

    /// A folder that must exist.
    pub(super) fn check_readable_folder(&mut self, key: &str, path: &Path) {
        if let Err(error) = std::fs::read_dir(path) {
            let message = format!("the folder {} cannot be read: {error}", path.display());
            self.refuse(key, message, "create it, or name another; relative paths start where the gateway is started");
        }
    }

    /// A folder that the gateway creates at its start unless it exists.
    pub(super) fn check_creatable_folder(&mut self, key: &str, path: &Path) {
        if path.exists() {
            return self.check_readable_folder(key, path);
        }
        if let Some(ancestor) = nearest_existing(path).filter(|ancestor| !ancestor.is_dir()) {
            let message =
                format!("the folder {} cannot be made: {} is not a folder", path.display(), ancestor.display());
            self.refuse(key, message, "name another folder; relative paths start where the gateway is started");
        }
    }
}

fn nearest_existing(path: &Path) -> Option<PathBuf> {
    path.ancestors().find(|ancestor| ancestor.exists()).map(Path::to_path_buf)
}

/// The name of a plugin or a chain is a part of environment variables, where `__` separates the levels. A plugin's name is
/// also a table prefix.
pub(super) fn is_section_name(name: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.bytes().all(is_allowed)
        && !name.contains("__")
        && !name.ends_with('_')
}
