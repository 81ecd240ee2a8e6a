//! The line about a migration that the database refused: its own words, and where in the migration they apply.

use plugin_api::host::sanitize_line;

/// Longest line: an operator reads it in a table, in the log and in a report.
pub(crate) const FAILURE_CHARS_MAX: usize = 600;
const MESSAGE_CHARS_MAX: usize = 300;
const EXCERPT_CHARS_MAX: usize = 60;

/// What a database says of an error.
pub(crate) struct FailureWords<'a> {
    pub message: &'a str,
    /// The byte in the text of the migration.
    pub position: Option<usize>,
    /// Such as the constraint and the hint.
    pub details: &'a [String],
    /// As the manual of the database lists it.
    pub code: Option<&'a str>,
}

/// One line: `no such table: x (line 2, column 1: INSERT INTO x …; code 1)`.
pub(crate) fn describe(words: &FailureWords<'_>, sql: &str) -> String {
    let position = words.position.map(|position| place(sql, position));
    let code = words.code.map(|code| format!("code {code}"));
    let details: Vec<String> = position.into_iter().chain(words.details.iter().cloned()).chain(code).collect();
    let message = sanitize_line(words.message, MESSAGE_CHARS_MAX);
    if details.is_empty() { message } else { format!("{message} ({})", details.join("; ")) }
}

/// Lines and columns count from 1, columns in characters.
fn place(sql: &str, position: usize) -> String {
    let position = sql.floor_char_boundary(position);
    let (before, after) = sql.split_at(position);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    let words: Vec<&str> = after.split_whitespace().collect();
    let text = words.join(" ");
    let excerpt = sanitize_line(&text, EXCERPT_CHARS_MAX);
    let ellipsis = if excerpt.len() < text.len() { "…" } else { "" };
    format!("line {line}, column {column}: {excerpt}{ellipsis}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_one_line_that_says_where() {
        let sql = "CREATE TABLE é (id BIGINT);\n  INSERT INTO é\n  VALUES (1)";
        let at = sql.find("INSERT").unwrap_or_default();
        let words = FailureWords {
            message: "two\nlines",
            position: Some(at),
            details: &["constraint x".to_owned()],
            code: Some("23505"),
        };
        let line = "two lines (line 2, column 3: INSERT INTO é VALUES (1); constraint x; code 23505)";
        assert_eq!(describe(&words, sql), line);
        let far = FailureWords { message: "m", position: Some(usize::MAX), details: &[], code: None };
        assert_eq!(describe(&far, sql), "m (line 3, column 13: )");
        assert_eq!(describe(&FailureWords { position: None, ..far }, sql), "m");
    }
}
