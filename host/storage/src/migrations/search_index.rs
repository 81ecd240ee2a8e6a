//! `{{search_index TABLE (COLUMN, …)}}` in a migration: an index that finds the rows which contain a text.
//!
//! The rule: the index is made by the gateway, not by the plugin, because on SQLite it needs triggers. It is a table of
//! trigrams there, kept by triggers, and an index of trigrams on PostgreSQL, kept by the database.

use crate::{dialect::Dialect, scope::owns_table};
use std::fmt::Write as _;

const BEGIN: &str = "{{search_index ";
const END: &str = "}}";

/// The text with each index replaced by what `write` makes of it.
fn replace(
    text: &str,
    mut write: impl FnMut(&mut String, SearchIndexSpec<'_>) -> Result<(), String>,
) -> Result<String, String> {
    let mut parts = text.split(BEGIN);
    let mut result = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (index, rest) = part.split_once(END).ok_or("search_index has no end")?;
        write(&mut result, SearchIndexSpec::parse(index)?)?;
        result.push_str(rest);
    }
    Ok(result)
}

/// The text without its indexes, which are checked: a plugin indexes its own tables.
pub fn without_search_indexes(text: &str, owner: &str) -> Result<String, String> {
    replace(text, |_, SearchIndexSpec { table, .. }| {
        let is_own = owns_table(owner, table);
        if is_own { Ok(()) } else { Err(format!("{table} is not {owner}'s: its names begin with {owner}_")) }
    })
}

/// The text with the statements that make its indexes.
pub fn with_search_indexes(text: &str, dialect: Dialect) -> Result<String, String> {
    replace(text, |sql, index| {
        match dialect {
            Dialect::Sqlite => index.write_sqlite(sql),
            Dialect::Postgres => index.write_postgres(sql),
        }
        .map_err(|error| error.to_string())
    })
}

struct SearchIndexSpec<'a> {
    table: &'a str,
    columns: Vec<&'a str>,
}

impl<'a> SearchIndexSpec<'a> {
    /// `TABLE (COLUMN, …)`
    fn parse(text: &'a str) -> Result<Self, String> {
        let parsed = text.split_once('(').and_then(|(table, columns)| {
            let columns = columns.trim().strip_suffix(')')?.split(',').map(str::trim).collect();
            Some(Self { table: table.trim(), columns })
        });
        match parsed {
            Some(index) if index.columns.iter().chain([&index.table]).all(|name| is_name(name)) => Ok(index),
            _ => Err(format!("{BEGIN}{text}{END} is not {BEGIN}TABLE (COLUMN, …){END}")),
        }
    }

    /// An FTS5 table that reads the texts from their own table and keeps no positions: every match is confirmed.
    fn write_sqlite(&self, sql: &mut String) -> std::fmt::Result {
        let table = self.table;
        let columns = self.columns.join(", ");
        let of = |row: &str| self.columns.iter().map(|column| format!("{row}.{column}")).collect::<Vec<_>>().join(", ");
        let changes: Vec<String> =
            self.columns.iter().map(|column| format!("new.{column} IS NOT old.{column}")).collect();
        let delete = format!(
            "INSERT INTO {table}_search ({table}_search, rowid, {columns}) VALUES ('delete', old.id, {}); ",
            of("old")
        );
        let insert = format!("INSERT INTO {table}_search (rowid, {columns}) VALUES (new.id, {}); ", of("new"));
        write!(
            sql,
            "CREATE VIRTUAL TABLE {table}_search USING fts5({columns}, content='{table}', content_rowid='id', \
                 tokenize='trigram', detail='none', columnsize=0); \
             INSERT INTO {table}_search ({table}_search) VALUES ('rebuild'); \
             CREATE TRIGGER {table}_search_insert AFTER INSERT ON {table} BEGIN {insert}END; \
             CREATE TRIGGER {table}_search_delete AFTER DELETE ON {table} BEGIN {delete}END; \
             CREATE TRIGGER {table}_search_update AFTER UPDATE OF {columns} ON {table} WHEN {} \
                 BEGIN {delete}{insert}END;",
            changes.join(" OR ")
        )
    }

    /// The expression must be the one that searches compare (plugin-api's search.rs).
    fn write_postgres(&self, sql: &mut String) -> std::fmt::Result {
        let table = self.table;
        let texts: Vec<String> =
            self.columns.iter().map(|column| format!(r#"lower({column} COLLATE "C") gin_trgm_ops"#)).collect();
        write!(
            sql,
            "CREATE EXTENSION IF NOT EXISTS pg_trgm; CREATE INDEX {table}_search ON {table} USING gin ({});",
            texts.join(", ")
        )
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

    #[test]
    fn the_rest_of_the_text_stays() {
        let rest = "CREATE TABLE notes_a (id {{id}});\n\n-- end";
        assert_eq!(without_search_indexes(INDEX, "notes").unwrap(), rest);
        assert_eq!(without_search_indexes(rest, "notes").unwrap(), rest);
        let made = with_search_indexes(INDEX, Dialect::Postgres).unwrap();
        assert!(made.starts_with("CREATE TABLE notes_a (id {{id}});\nCREATE EXTENSION") && made.ends_with("\n-- end"));
    }

    #[test]
    fn a_table_of_another_plugin_is_refused() {
        assert_eq!(
            without_search_indexes(INDEX, "forum").unwrap_err(),
            "notes_a is not forum's: its names begin with forum_"
        );
    }

    #[test]
    fn only_plain_names_become_sql() {
        for wrong in ["notes_a", "notes_a ()", "notes_a (a; b)", "notes_a (a')", "notes_a b (a)", "(a)", "1_a (a)"] {
            let text = format!("{{{{search_index {wrong}}}}}");
            assert!(
                without_search_indexes(&text, "notes").unwrap_err().contains("is not {{search_index TABLE"),
                "{wrong}"
            );
        }
        assert!(without_search_indexes("{{search_index notes_a (a)", "notes").is_err());
    }
}
