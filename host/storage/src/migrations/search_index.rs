//! `{{search_index TABLE (COLUMN, …)}}` in a migration: an index that finds the rows which contain a text.
//!
//! It is a table of trigrams on SQLite, kept by triggers, and an index of trigrams on PostgreSQL, kept by the database.

use super::directive::Directive;
use crate::dialect::Dialect;
use std::fmt::Write as _;

pub(crate) fn write(sql: &mut String, index: &Directive<'_>, dialect: Dialect) -> std::fmt::Result {
    match dialect {
        Dialect::Sqlite => write_sqlite(sql, index),
        Dialect::Postgres => write_postgres(sql, index),
    }
}

/// An FTS5 table that reads the texts from their own table and keeps no positions: every match is confirmed. What a rebuild leaves of many
/// rows are large segments that writes would merge with their small ones again and again; `optimize` makes one of them.
fn write_sqlite(sql: &mut String, Directive { table, columns: indexed }: &Directive<'_>) -> std::fmt::Result {
    let columns = indexed.join(", ");
    let of = |row: &str| indexed.iter().map(|column| format!("{row}.{column}")).collect::<Vec<_>>().join(", ");
    let changes: Vec<String> = indexed.iter().map(|column| format!("new.{column} IS NOT old.{column}")).collect();
    let delete = format!(
        "INSERT INTO {table}_search ({table}_search, rowid, {columns}) VALUES ('delete', old.id, {}); ",
        of("old")
    );
    let insert = format!("INSERT INTO {table}_search (rowid, {columns}) VALUES (new.id, {}); ", of("new"));
    write!(
        sql,
        "CREATE VIRTUAL TABLE {table}_search USING fts5({columns}, content='{table}', content_rowid='id', \
             tokenize='trigram', detail='none', columnsize=0); \
         INSERT INTO {table}_search ({table}_search) VALUES ('rebuild'), ('optimize'); \
         CREATE TRIGGER {table}_search_insert AFTER INSERT ON {table} BEGIN {insert}END; \
         CREATE TRIGGER {table}_search_delete AFTER DELETE ON {table} BEGIN {delete}END; \
         CREATE TRIGGER {table}_search_update AFTER UPDATE OF {columns} ON {table} WHEN {} \
             BEGIN {delete}{insert}END;",
        changes.join(" OR ")
    )
}

/// The expression must be the one that searches compare (plugin-api's search.rs).
fn write_postgres(sql: &mut String, Directive { table, columns }: &Directive<'_>) -> std::fmt::Result {
    let texts: Vec<String> =
        columns.iter().map(|column| format!(r#"lower({column} COLLATE "C") gin_trgm_ops"#)).collect();
    write!(
        sql,
        "CREATE EXTENSION IF NOT EXISTS pg_trgm; CREATE INDEX {table}_search ON {table} USING gin ({});",
        texts.join(", ")
    )
}
