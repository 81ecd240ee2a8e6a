//! Problems of the configuration, reported all at once. Rule: a problem names the key, where its value came from, and what to
//! do; it never repeats a secret.

use std::{fmt, path::PathBuf};

use serde::{Serialize, Serializer};

/// Where a value came from, in order of strength.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    Default,
    File(PathBuf),
    Environment(String),
    Flag(String),
}

impl Source {
    /// Higher overrides lower.
    pub(super) fn layer(&self) -> u8 {
        match self {
            Self::Default => 0,
            Self::File(_) => 1,
            Self::Environment(_) => 2,
            Self::Flag(_) => 3,
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File(path) => write!(f, "{}", path.display()),
            Self::Environment(name) => write!(f, "environment variable {}", name.escape_debug()),
            Self::Flag(name) => write!(f, "flag {name}"),
        }
    }
}

impl Serialize for Source {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// One thing that is wrong. The order of the fields is the order of the report.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Problem {
    /// The key, with dots: `http.listen`.
    pub key: String,
    /// Where its value came from.
    pub source: Source,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub hint: String,
}

impl Problem {
    pub fn new(key: impl Into<String>, source: Source, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { key: key.into(), source, message: message.into(), hint: hint.into() }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}): {}\n    {}", self.key.escape_debug(), self.source, self.message, self.hint)
    }
}

/// All problems, sorted and without duplicates. Never empty.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Problems(Vec<Problem>);

impl Problems {
    /// `Ok` when there is nothing to report.
    pub fn into_result(mut problems: Vec<Problem>) -> Result<(), Self> {
        if problems.is_empty() {
            return Ok(());
        }
        problems.sort();
        problems.dedup();
        Err(Self(problems))
    }

    pub fn iter(&self) -> std::slice::Iter<'_, Problem> {
        self.0.iter()
    }
}

impl<'a> IntoIterator for &'a Problems {
    type Item = &'a Problem;
    type IntoIter = std::slice::Iter<'a, Problem>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = if self.0.len() == 1 { "problem" } else { "problems" };
        write!(f, "{} {plural} in the configuration:", self.0.len())?;
        self.0.iter().try_for_each(|problem| write!(f, "\n\n  {problem}"))
    }
}

impl std::error::Error for Problems {}
