//! An export as it is read: its lines and its footer.

use super::{canonical::canonical, strict_json};
use serde_json::{Map, Value};

/// Why a file cannot be checked at all.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotAnExport {
    #[error("the file is empty")]
    Empty,
    #[error("the last line is not a footer: {0}")]
    NoFooter(String),
}

/// A line that is an object.
pub(crate) struct Line {
    /// From 1.
    pub number: usize,
    pub members: Map<String, Value>,
    pub signature: Option<Value>,
    /// Canonical, without the signature.
    pub text: String,
}

pub(crate) struct Document {
    pub lines: Vec<Line>,
    pub footer: Line,
    /// Lines that are no objects, and what the file should not have.
    pub problems: Vec<String>,
}

impl Document {
    pub(crate) fn parse(file: &str) -> Result<Self, NotAnExport> {
        let mut problems = Vec::new();
        let body = file.strip_suffix('\n').unwrap_or_else(|| {
            problems.push("the last line does not end with a line feed".to_owned());
            file
        });
        let mut texts: Vec<&str> = body.split('\n').collect();
        let last = texts.pop().filter(|last| !last.is_empty()).ok_or(NotAnExport::Empty)?;
        let footer = Line::parse(texts.len() + 1, last).map_err(NotAnExport::NoFooter)?;
        if !footer.members.contains_key("merkleRoot") {
            return Err(NotAnExport::NoFooter("it has no member merkleRoot".to_owned()));
        }
        let mut lines = Vec::new();
        for (number, text) in (1..).zip(texts) {
            match Line::parse(number, text) {
                Ok(line) => lines.push(line),
                Err(reason) => problems.push(format!("line {number}: {reason}")),
            }
        }
        Ok(Self { lines, footer, problems })
    }
}

impl Line {
    fn parse(number: usize, text: &str) -> Result<Self, String> {
        let mut members = strict_json::object(text)?;
        let signature = members.remove("sig");
        let text = canonical(&Value::Object(members.clone()));
        Ok(Self { number, members, signature, text })
    }

    /// A member that is a whole number; 0 where there is none.
    pub(crate) fn number_of(&self, member: &str) -> u64 {
        self.members.get(member).and_then(Value::as_u64).unwrap_or(0)
    }
}
