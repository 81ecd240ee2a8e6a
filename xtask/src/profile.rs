//! The cargo profile that a command builds with, and where cargo puts what it built.

use std::path::{Path, PathBuf};

/// Names another profile than the command's own; the tests take `dev`, which is built anyway.
const VARIABLE: &str = "XTASK_PROFILE";

pub struct Profile {
    pub name: String,
}

impl Profile {
    pub fn or(default: &str) -> Self {
        Self { name: std::env::var(VARIABLE).unwrap_or_else(|_| default.to_owned()) }
    }

    pub fn folder(&self, root: &Path) -> PathBuf {
        let folder = if self.name == "dev" { "debug" } else { &self.name };
        root.join("target").join(folder)
    }
}
