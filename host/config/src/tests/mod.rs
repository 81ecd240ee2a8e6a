//! The configuration from files, variables and flags, to values or problems. No test reads or sets the environment of the
//! process.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod admin;
mod chains;
mod effective;
mod environment;
mod names;
mod plugins;
mod precedence;
mod problems;
mod reference_file;
mod secrets;
mod secrets_keys;
mod signers;

use std::path::PathBuf;

use tempfile::TempDir;

use super::{Config, Overrides, Problem, Problems};

/// A folder with a configuration file, the variables and the flags of one start.
struct ConfigFixture {
    folder: TempDir,
    variables: Vec<(String, String)>,
    flags: Overrides,
}

impl ConfigFixture {
    fn new() -> Self {
        Self { folder: TempDir::new().unwrap(), variables: Vec::new(), flags: Overrides::default() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn file(self, text: &str) -> Self {
        std::fs::write(self.path("gateway.toml"), text).unwrap();
        self
    }

    fn variable(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    fn flags(mut self, change: impl FnOnce(&mut Overrides)) -> Self {
        change(&mut self.flags);
        self
    }

    fn load(&self) -> Result<Config, Problems> {
        Config::load_from(&self.flags, self.variables.clone(), &[self.path("gateway.toml")])
    }

    fn config(&self) -> Config {
        self.load().unwrap_or_else(|problems| panic!("{problems}"))
    }

    fn problems(&self) -> Vec<Problem> {
        self.load().expect_err("problems").iter().cloned().collect()
    }

    /// The only problem.
    fn problem(&self) -> Problem {
        let mut problems = self.problems();
        assert_eq!(problems.len(), 1, "{problems:#?}");
        problems.remove(0)
    }
}

fn file(text: &str) -> ConfigFixture {
    ConfigFixture::new().file(text)
}

fn variable(name: &str, value: &str) -> ConfigFixture {
    ConfigFixture::new().variable(name, value)
}
