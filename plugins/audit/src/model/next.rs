//! Where the next export begins: `next` of the footer.

use crate::error::AuditError;
use plugin_api::point::AuditPosition;
use serde::{Serialize, Serializer};
use std::{fmt, str::FromStr};

/// A kind or an id that is longer is nobody's.
const PART_BYTES_MAX: usize = 200;

/// A position as text: time, block and index of the log, kind and id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cursor(pub AuditPosition);

/// The parameters of the next export.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Next {
    /// A block where the bounds of this one were blocks, else Unix seconds.
    pub from: i64,
    /// Where the second has more lines than one export.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<Cursor>,
}

impl fmt::Display for Cursor {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let AuditPosition { ts, block, log_index, kind, id } = &self.0;
        write!(out, "{ts}.{block}.{log_index}.{kind}.{id}")
    }
}

impl Serialize for Cursor {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl FromStr for Cursor {
    type Err = AuditError;

    fn from_str(text: &str) -> Result<Self, AuditError> {
        let mut parts = text.splitn(5, '.');
        let mut part = || parts.next().filter(|part| part.len() <= PART_BYTES_MAX).ok_or(AuditError::After);
        let number = |text: &str| text.parse::<i64>().ok().filter(|number| *number >= 0).ok_or(AuditError::After);
        let (ts, block, log_index) = (number(part()?)?, number(part()?)?, number(part()?)?);
        let (kind, id) = (part()?.to_owned(), part()?.to_owned());
        Ok(Self(AuditPosition { ts, block, log_index, kind, id }))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_read_as_it_is_written() {
        let at = AuditPosition { ts: 7, block: 8, log_index: 9, kind: "x402".to_owned(), id: "0xa:1.2".to_owned() };
        let text = Cursor(at.clone()).to_string();
        assert_eq!(text, "7.8.9.x402.0xa:1.2");
        assert_eq!(text.parse(), Ok(Cursor(at)));
    }

    #[test]
    fn other_texts_are_no_cursors() {
        let long = format!("1.2.3.commons.{}", "x".repeat(201));
        for text in ["1.2.3.commons", "a.2.3.commons.1", "-1.2.3.commons.1", "1.2.99999999999999999999.c.1", "", &long]
        {
            assert_eq!(text.parse::<Cursor>(), Err(AuditError::After), "{text}");
        }
    }
}
