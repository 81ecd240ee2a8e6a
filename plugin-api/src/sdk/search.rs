//! Substring filters (`q`): ASCII letters match in either case, every other character only itself, `%` and `_` too.
//!
//! The rule: both databases return the same rows. Their `LIKE` and `lower()` differ beyond ASCII, so every match is confirmed
//! by a comparison that does not, and `lower()` has the collation that makes PostgreSQL's do what SQLite's does.

use super::{HostHandle, Sql, sql};
use std::fmt::Write as _;

/// A substring filter in the dialect of this gateway's database.
///
/// ```
/// use plugin_api::{HostHandle, List, Search, SearchIndex};
///
/// const SEARCHED: SearchIndex = SearchIndex::new("notes_notes", &["title", "text"]);
///
/// /// The notes that contain `q`; all when it is empty.
/// fn containing(notes: List, host: &HostHandle, q: &str) -> List {
///     notes.search(Search::new(host, q), "n.id", &SEARCHED)
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

    /// For tests and tools without a gateway; `dialect` as in [`crate::manifest::Environment`].
    pub fn in_dialect(dialect: &str, text: &str) -> Option<Self> {
        let needle = text.to_ascii_lowercase();
        (!needle.is_empty()).then_some(Self { needle, postgres: dialect == "postgres" })
    }

    /// What the text must contain, with the capital letters of ASCII made small.
    pub fn needle(&self) -> &str {
        &self.needle
    }

    /// Appends SQL that is true where the text `column` contains the needle; `placeholder` is for example `$1`.
    /// No index serves it: the database evaluates it for every row.
    pub(crate) fn push_condition(&self, text: &mut String, column: &str, placeholder: &str) {
        let [before, between, after] = if self.postgres {
            ["strpos(lower(", r#" COLLATE "C"), "#, ") > 0"]
        } else {
            ["instr(lower(", "), ", ") > 0"]
        };
        text.extend([before, column, between, placeholder, after]);
    }

    /// Whether an index of trigrams can answer it on both databases. PostgreSQL's knows letters and digits only.
    fn is_indexable(&self) -> bool {
        let mut run = 0;
        self.needle.chars().any(|letter| {
            run = if letter.is_alphanumeric() { run + 1 } else { 0 };
            run == TRIGRAM
        })
    }

    /// The query for FTS5: rows that have the needle's trigrams, in any order.
    fn trigrams(&self) -> String {
        let letters: Vec<char> = self.needle.chars().collect();
        let windows = letters.windows(TRIGRAM).filter(|window| !window.contains(&'\0'));
        windows.take(TRIGRAMS_MAX).fold(String::new(), |mut query, window| {
            let trigram: String = window.iter().collect();
            let _ = write!(query, "\"{}\" ", trigram.replace('"', "\"\""));
            query
        })
    }

    /// The pattern for `LIKE`.
    fn pattern(&self) -> String {
        let mut pattern = String::from("%");
        for letter in self.needle.chars() {
            if matches!(letter, '%' | '_' | '\\') {
                pattern.push('\\');
            }
            pattern.push(letter);
        }
        pattern + "%"
    }
}

/// Letters of a trigram.
const TRIGRAM: usize = 3;
/// More of them would cost more to look up than they rule out.
const TRIGRAMS_MAX: usize = 32;
/// Rows that a needle without a trigram is looked for in.
const NEWEST_ROWS: i64 = 10_000;

/// An index of the texts in a table, which finds the rows that contain a needle without reading the others. A migration
/// makes it, with at least these columns:
///
/// ```sql
/// {{search_index notes_notes (title, text)}}
/// ```
///
/// ```
/// use plugin_api::{List, Search, SearchIndex};
///
/// const TITLES: SearchIndex = SearchIndex::new("notes_notes", &["title"]);
/// const COMMENTS: SearchIndex = SearchIndex::new("notes_comments", &["text"]);
///
/// fn commented(notes: List, search: &Search) -> List {
///     let hits = TITLES.select("id", search).push(" UNION ").push_sql(COMMENTS.select("note_id", search));
///     notes.hits("n.id", hits)
/// }
/// ```
///
/// The table has the key `id`, an integer that grows. A needle without three letters or digits in a row is looked for in the
/// newest 10,000 rows only: no index knows it.
#[derive(Clone, Copy, Debug)]
pub struct SearchIndex {
    table: &'static str,
    columns: &'static [&'static str],
}

impl SearchIndex {
    /// The index of this table, of which these columns are searched.
    pub const fn new(table: &'static str, columns: &'static [&'static str]) -> Self {
        Self { table, columns }
    }

    /// `SELECT column FROM table` for the rows that contain the needle.
    pub fn select(&self, column: &'static str, search: &Search) -> Sql {
        let Self { table, columns } = self;
        let select = sql(format!("SELECT {column} FROM {table} WHERE "));
        if !search.is_indexable() {
            let newest = format!("id > (SELECT max(id) FROM {table}) - {{}} AND (");
            return self.push_comparisons(select.push_bind(&newest, NEWEST_ROWS), search).push(")");
        }
        if search.postgres {
            let mut any = String::from("(");
            for (number, column) in columns.iter().enumerate() {
                let or = if number == 0 { "" } else { " OR " };
                let _ = write!(any, r#"{or}lower({column} COLLATE "C") LIKE {{}}"#);
            }
            return select.push_bind(&any, search.pattern()).push(")");
        }
        let candidates = format!("id IN (SELECT rowid FROM {table}_search WHERE {table}_search MATCH {{}}) AND (");
        self.push_comparisons(select.push_bind(&candidates, search.trigrams()), search).push(")")
    }

    fn push_comparisons(&self, select: Sql, search: &Search) -> Sql {
        let mut any = String::new();
        for (number, column) in self.columns.iter().enumerate() {
            if number > 0 {
                any.push_str(" OR ");
            }
            search.push_condition(&mut any, column, "{}");
        }
        select.push_bind(&any, search.needle())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::abi::Value;

    #[test]
    fn the_needle_is_lowered_in_ascii_only() {
        assert_eq!(Search::in_dialect("sqlite", "100%_ÄB").unwrap().needle(), "100%_Äb");
        assert_eq!(Search::in_dialect("sqlite", ""), None);
    }

    #[test]
    fn each_dialect_has_its_condition() {
        let condition = |dialect| {
            let mut condition = String::new();
            Search::in_dialect(dialect, "x").unwrap().push_condition(&mut condition, "t.title", "$2");
            condition
        };
        assert_eq!(condition("sqlite"), "instr(lower(t.title), $2) > 0");
        assert_eq!(condition("postgres"), r#"strpos(lower(t.title COLLATE "C"), $2) > 0"#);
    }

    const NOTES: SearchIndex = SearchIndex::new("notes_notes", &["title", "text"]);

    fn selected(dialect: &str, q: &str) -> (String, Vec<Value>) {
        let select = NOTES.select("id", &Search::in_dialect(dialect, q).unwrap()).0;
        (select.sql.to_string(), select.params.to_vec())
    }

    #[test]
    fn sqlite_confirms_what_the_index_proposes() {
        let (text, values) = selected("sqlite", "A\"bC1");
        assert_eq!(
            text,
            "SELECT id FROM notes_notes WHERE id IN (SELECT rowid FROM notes_notes_search WHERE notes_notes_search \
             MATCH $1) AND (instr(lower(title), $2) > 0 OR instr(lower(text), $2) > 0)"
        );
        assert_eq!(values, [Value::Text("\"a\"\"b\" \"\"\"bc\" \"bc1\" ".into()), Value::Text("a\"bc1".into())]);
    }

    #[test]
    fn postgres_has_one_condition_for_index_and_match() {
        let (text, values) = selected("postgres", "A_b%cde\\");
        assert_eq!(
            text,
            r#"SELECT id FROM notes_notes WHERE (lower(title COLLATE "C") LIKE $1 OR lower(text COLLATE "C") LIKE $1)"#
        );
        assert_eq!(values, [Value::Text(r"%a\_b\%cde\\%".into())]);
    }

    #[test]
    fn what_no_index_knows_is_looked_for_in_the_newest_rows() {
        for (dialect, needle) in [("sqlite", "ab"), ("sqlite", "ab-cd"), ("postgres", "!!!!"), ("postgres", "東京")] {
            let (text, values) = selected(dialect, needle);
            assert!(
                text.starts_with("SELECT id FROM notes_notes WHERE id > (SELECT max(id) FROM notes_notes) - $1 AND (")
            );
            assert_eq!(values, [Value::Int(10_000), Value::Text(needle.into())]);
        }
        assert!(selected("sqlite", "東京都").0.contains("MATCH"));
    }

    #[test]
    fn a_long_needle_is_looked_up_by_its_beginning() {
        let (_, values) = selected("sqlite", &"abcdefghij".repeat(100));
        let Value::Text(query) = &values[0] else { panic!("{values:?}") };
        assert_eq!(query.split_whitespace().count(), 32);
    }
}
