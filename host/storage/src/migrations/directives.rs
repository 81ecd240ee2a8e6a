//! What a migration says for the gateway to write: `{{search_index TABLE (COLUMN, …)}}`, `{{row_counts TABLE (COLUMN, …)}}`,
//! `{{queue TABLE}}`.
//!
//! The rule: triggers are the gateway's own. A plugin names what they keep, for a table of its own, and writes none of them.

use super::{
    count_changes::{self, CountReplacement},
    directive::Directive,
    queue_tables, row_counts, search_index,
};
use crate::{dialect::Dialect, scope::owns_table};

const END: &str = "}}";

/// Writes the statements of a directive.
type Writer = fn(&mut String, &Directive<'_>, Dialect) -> std::fmt::Result;

const SEARCH_INDEX: Kind = Kind { begin: "{{search_index ", columns: Columns::Some, write: search_index::write };
const ROW_COUNTS: Kind = Kind { begin: "{{row_counts ", columns: Columns::Any, write: row_counts::write };
const QUEUE: Kind = Kind { begin: "{{queue ", columns: Columns::Unnamed, write: queue_tables::write };

struct Kind {
    begin: &'static str,
    columns: Columns,
    write: Writer,
}

/// Which columns a directive names after its table.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Columns {
    /// At least one.
    Some,
    /// Any number of them.
    Any,
    /// It has no list of columns.
    Unnamed,
}

/// The text without its directives, which are checked: a plugin writes about its own tables.
pub(crate) fn without_directives(text: &str, owner: &str) -> Result<String, String> {
    replace_all(text, |_, _, Directive { table, .. }| {
        let is_own = owns_table(owner, table);
        if is_own { Ok(()) } else { Err(format!("{table} is not {owner}'s: its names begin with {owner}_")) }
    })
}

/// The text with the statements that the directives stand for.
pub(crate) fn with_directives(text: &str, dialect: Dialect) -> Result<String, String> {
    replace_all(text, |sql, kind, directive| (kind.write)(sql, &directive, dialect).map_err(|error| error.to_string()))
}

/// The same for the simulated PostgreSQL, which searches without an index and counts as `write_row_counts` says.
#[cfg(feature = "simulation")]
pub(crate) fn with_simulated_directives(
    text: &str,
    write_row_counts: fn(&mut String, &Directive<'_>) -> std::fmt::Result,
) -> Result<String, String> {
    replace_all(text, |sql, kind, directive| {
        let written = if kind.begin == SEARCH_INDEX.begin {
            Ok(())
        } else if kind.begin == ROW_COUNTS.begin {
            write_row_counts(sql, &directive)
        } else {
            (kind.write)(sql, &directive, Dialect::Sqlite)
        };
        written.map_err(|error| error.to_string())
    })
}

/// How PostgreSQL's tables of numbers of earlier versions are replaced, for each `row_counts` of the text.
pub(crate) fn count_replacements(text: &str) -> Result<Vec<CountReplacement>, String> {
    let mut found = Vec::new();
    ROW_COUNTS.replace(text, |_, directive| {
        found.push(count_changes::replacement(&directive).map_err(|error| error.to_string())?);
        Ok(())
    })?;
    Ok(found)
}

fn replace_all(
    text: &str,
    mut write: impl FnMut(&mut String, &Kind, Directive<'_>) -> Result<(), String>,
) -> Result<String, String> {
    let text = SEARCH_INDEX.replace(text, |sql, directive| write(sql, &SEARCH_INDEX, directive))?;
    let text = ROW_COUNTS.replace(&text, |sql, directive| write(sql, &ROW_COUNTS, directive))?;
    QUEUE.replace(&text, |sql, directive| write(sql, &QUEUE, directive))
}

impl Kind {
    /// The text with each directive of this kind replaced by what `write` makes of it.
    fn replace(
        &self,
        text: &str,
        mut write: impl FnMut(&mut String, Directive<'_>) -> Result<(), String>,
    ) -> Result<String, String> {
        let mut parts = text.split(self.begin);
        let mut result = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let (directive, rest) = part.split_once(END).ok_or_else(|| format!("{}… has no end", self.begin))?;
            write(&mut result, self.parse(directive)?)?;
            result.push_str(rest);
        }
        Ok(result)
    }

    fn parse<'a>(&self, text: &'a str) -> Result<Directive<'a>, String> {
        let (parsed, form) = match self.columns {
            Columns::Unnamed => (Some(Directive { table: text.trim(), columns: Vec::new() }), "TABLE"),
            Columns::Some | Columns::Any => (self.parse_columns(text), "TABLE (COLUMN, …)"),
        };
        match parsed {
            Some(found) if found.columns.iter().chain([&found.table]).all(|name| is_name(name)) => Ok(found),
            _ => Err(format!("{0}{text}{END} is not {0}{form}{END}", self.begin)),
        }
    }

    fn parse_columns<'a>(&self, text: &'a str) -> Option<Directive<'a>> {
        let (table, columns) = text.split_once('(')?;
        let columns = columns.trim().strip_suffix(')')?.trim();
        let columns: Vec<_> = if columns.is_empty() && self.columns == Columns::Any {
            Vec::new()
        } else {
            columns.split(',').map(str::trim).collect()
        };
        Some(Directive { table: table.trim(), columns })
    }
}

fn is_name(text: &str) -> bool {
    text.starts_with(|letter: char| letter.is_ascii_lowercase())
        && text.chars().all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_')
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    const INDEX: &str = "CREATE TABLE notes_a (id {{id}});\n{{search_index notes_a (title, text)}}\n-- end";
    const COUNTS: &str =
        "CREATE TABLE notes_a (id {{id}});\n{{row_counts notes_a (kind)}}{{row_counts notes_b ()}}\n-- end";

    const QUEUE: &str = "CREATE TABLE notes_a (id {{id}});\n{{queue notes_mails}}\n-- end";

    #[test]
    fn a_queue_is_tables_of_the_plugin() {
        assert_eq!(without_directives(QUEUE, "notes").unwrap(), "CREATE TABLE notes_a (id {{id}});\n\n-- end");
        assert_eq!(
            without_directives(QUEUE, "forum").unwrap_err(),
            "notes_mails is not forum's: its names begin with forum_"
        );
        for dialect in [Dialect::Sqlite, Dialect::Postgres] {
            let made = with_directives(QUEUE, dialect).unwrap();
            for table in ["notes_mails", "notes_mails_keys", "notes_mails_pushed", "notes_mails_dead"] {
                assert!(made.contains(&format!("CREATE TABLE {table} (")), "{table}");
            }
        }
        let refused = without_directives("{{queue notes_mails (a)}}", "notes").unwrap_err();
        assert_eq!(refused, "{{queue notes_mails (a)}} is not {{queue TABLE}}");
    }

    #[test]
    fn the_rest_of_the_text_stays() {
        let rest = "CREATE TABLE notes_a (id {{id}});\n\n-- end";
        for text in [INDEX, COUNTS, rest] {
            assert_eq!(without_directives(text, "notes").unwrap(), rest);
            for dialect in [Dialect::Sqlite, Dialect::Postgres] {
                let made = with_directives(text, dialect).unwrap();
                assert!(made.starts_with("CREATE TABLE notes_a (id {{id}});\n") && made.ends_with("\n-- end"));
                assert_eq!(made.contains("CREATE TRIGGER") || made.contains("gin ("), text != rest);
            }
        }
    }

    #[test]
    fn a_table_of_another_plugin_is_refused() {
        for text in [INDEX, COUNTS] {
            let refused = without_directives(text, "forum").unwrap_err();
            assert_eq!(refused, "notes_a is not forum's: its names begin with forum_");
        }
    }

    #[test]
    fn each_table_of_numbers_has_its_replacement() {
        let found = count_replacements(COUNTS).unwrap();
        let tables: Vec<&str> = found.iter().map(|replacement| replacement.old_table.as_str()).collect();
        assert_eq!(tables, ["notes_a_counts", "notes_b_counts"]);
        for CountReplacement { old_table, sql } in &found {
            assert!(sql.contains(&format!("DROP TABLE {old_table}; ")) && !sql.contains("CASCADE"), "{sql}");
        }
        assert!(count_replacements(INDEX).unwrap().is_empty());
    }

    #[test]
    fn only_plain_names_become_sql() {
        for wrong in ["notes_a", "notes_a (a; b)", "notes_a (a')", "notes_a b (a)", "(a)", "1_a (a)", "notes_a (,)"] {
            for kind in ["search_index", "row_counts"] {
                let refused = without_directives(&format!("{{{{{kind} {wrong}}}}}"), "notes").unwrap_err();
                assert!(refused.contains(&format!("is not {{{{{kind} TABLE")), "{wrong}");
            }
        }
        assert!(without_directives("{{search_index notes_a ()}}", "notes").is_err(), "an index of nothing");
        assert!(without_directives("{{search_index notes_a (a)", "notes").is_err());
    }
}
