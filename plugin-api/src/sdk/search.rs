//! Substring filters (`q`): ASCII letters match in either case, every other character only itself, `%` and `_` too.
//!
//! The rule: both databases return the same rows. Their `LIKE` and `lower()` differ beyond ASCII, so `LIKE` is not used, and
//! `lower()` only with the collation that makes PostgreSQL's do what SQLite's does.

use super::HostHandle;

/// A substring filter in the dialect of this gateway's database.
///
/// ```
/// use plugin_api::{HostHandle, List, Search};
///
/// /// The notes that contain `q`; all when it is empty.
/// fn containing(notes: List, host: &HostHandle, q: &str) -> List {
///     notes.search(Search::new(host, q), &["title", "text"])
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Search {
    needle: String,
    postgres: bool,
}

impl Search {
    /// `None` when the text is empty.
    pub fn new(host: &HostHandle, text: &str) -> Option<Self> {
        Self::in_dialect(&host.environment().dialect, text)
    }

    /// For tests and tools without a gateway; `dialect` as in [`crate::Environment`].
    pub fn in_dialect(dialect: &str, text: &str) -> Option<Self> {
        let needle = text.to_ascii_lowercase();
        (!needle.is_empty()).then_some(Self { needle, postgres: dialect == "postgres" })
    }

    /// The value to bind to the placeholder of [`Search::condition`].
    pub fn needle(&self) -> &str {
        &self.needle
    }

    /// SQL that is true where the text `column` contains the needle; `placeholder` is for example `$1`.
    /// No index serves it: the database evaluates it for every row.
    pub fn condition(&self, column: &str, placeholder: &str) -> String {
        let mut condition = String::new();
        self.push_condition(&mut condition, column, placeholder);
        condition
    }

    pub(crate) fn push_condition(&self, text: &mut String, column: &str, placeholder: &str) {
        let [before, between, after] = if self.postgres {
            ["strpos(lower(", r#" COLLATE "C"), "#, ") > 0"]
        } else {
            ["instr(lower(", "), ", ") > 0"]
        };
        text.extend([before, column, between, placeholder, after]);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn the_needle_is_lowered_in_ascii_only() {
        assert_eq!(Search::in_dialect("sqlite", "100%_ÄB").unwrap().needle(), "100%_Äb");
        assert_eq!(Search::in_dialect("sqlite", ""), None);
    }

    #[test]
    fn each_dialect_has_its_condition() {
        let condition = |dialect| Search::in_dialect(dialect, "x").unwrap().condition("t.title", "$2");
        assert_eq!(condition("sqlite"), "instr(lower(t.title), $2) > 0");
        assert_eq!(condition("postgres"), r#"strpos(lower(t.title COLLATE "C"), $2) > 0"#);
    }
}
