//! Migrations of the simulated server: SQLite's text with PostgreSQL's semantics where the two differ.
//!
//! The rule: a migration that makes tables on PostgreSQL alone is PostgreSQL's text. Identities are not SQLite's row ids: those roll back.

use crate::{
    check::CheckedStatement,
    error::StorageError,
    migrations::{
        CREATE_MIGRATIONS_TABLE, Directive, MigrationReport, RenderedMigration, with_simulated_directives,
        write_count_triggers,
    },
    sqlite::{self, storage_error},
};
use plugin_api::manifest::MigrationSpec;
use rusqlite::Connection;
use std::fmt::Write as _;

/// What [`super::catalogue`] reads in place of PostgreSQL's catalogue.
const CATALOGUE: &str = "
CREATE TABLE IF NOT EXISTS sim_count_tables (name TEXT NOT NULL PRIMARY KEY, columns TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS sim_row_triggers (name TEXT NOT NULL PRIMARY KEY, ending TEXT NOT NULL);
";
const NOTHING: &str = "SELECT 1";
const IDENTITY: &str = "{{id}}";

pub(super) fn create_migrations_table(connection: &Connection) -> Result<(), StorageError> {
    batch(connection, &format!("{CREATE_MIGRATIONS_TABLE}; {CATALOGUE}"))
}

pub(super) fn apply(
    connection: &Connection,
    owner: &str,
    steps: Vec<RenderedMigration>,
) -> Result<MigrationReport, StorageError> {
    let report = sqlite::apply_migrations(connection, owner, steps)?;
    note_change_of_everything(connection)?;
    Ok(report)
}

/// The first migrations run before the table is there.
fn note_change_of_everything(connection: &Connection) -> Result<(), StorageError> {
    let is_there = connection.table_exists(None, "host_changes").map_err(|e| storage_error(&e))?;
    if is_there { batch(connection, "INSERT INTO host_changes (owner) VALUES ('*')") } else { Ok(()) }
}

fn batch(connection: &Connection, sql: &str) -> Result<(), StorageError> {
    connection.execute_batch(sql).map_err(|e| storage_error(&e))
}

/// The text for an empty database.
pub(crate) fn migration_text(spec: &MigrationSpec) -> Result<String, String> {
    let own_tables = spec.postgres.as_deref().filter(|text| is_nothing(&spec.sql) && text.contains("CREATE TABLE"));
    let text = with_simulated_directives(own_tables.unwrap_or(&spec.sql), write_row_counts)?;
    let text = without_table_locks(&text).replace("WITHOUT ROWID", "").replace("{{blob}}", "BLOB");
    with_identities(&text)
}

fn is_nothing(sql: &str) -> bool {
    let lines = sql.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("--"));
    lines.collect::<Vec<_>>() == [NOTHING]
        || sql.trim().trim_end_matches(';').ends_with(NOTHING) && !sql.contains("CREATE")
}

/// Nobody else uses a table during a migration.
fn without_table_locks(text: &str) -> String {
    let mut parts = text.split("LOCK TABLE ");
    let mut rest = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        rest.push_str(part.split_once(';').map_or("", |(_, after)| after));
    }
    rest
}

/// Each table has a sequence, which goes by the name that the table was made with.
fn with_identities(text: &str) -> Result<String, String> {
    let mut parts = text.split(IDENTITY);
    let mut result = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let made = result.rsplit_once("CREATE TABLE ").map(|(_, table)| table.trim_start_matches("IF NOT EXISTS "));
        let name = made.and_then(|table| table.split([' ', '(']).next()).ok_or("an identity belongs to no table")?;
        let column = format!("BIGINT NOT NULL PRIMARY KEY DEFAULT (sim_identity('{name}'))");
        result.push_str(&column);
        result.push_str(part);
    }
    Ok(result)
}

/// As [`crate::migrations`] writes them for PostgreSQL: triggers only insert, and a view sums.
fn write_row_counts(sql: &mut String, directive: &Directive<'_>) -> std::fmt::Result {
    let Directive { table, columns: counted } = directive;
    let names = counted.join(", ");
    let (listed, group) = if counted.is_empty() {
        (String::new(), String::new())
    } else {
        (format!("{names}, "), format!(" GROUP BY {names}"))
    };
    let having = if counted.is_empty() { "" } else { " HAVING sum(row_count) <> 0" };
    write!(
        sql,
        "CREATE TABLE {table}_count_changes ({listed}row_count BIGINT NOT NULL, is_sum BOOLEAN NOT NULL DEFAULT FALSE); \
         INSERT INTO {table}_count_changes ({listed}row_count, is_sum) SELECT {listed}count(*), TRUE FROM {table}{group}; \
         CREATE VIEW {table}_counts AS SELECT {listed}CAST(coalesce(sum(row_count), 0) AS BIGINT) AS row_count \
             FROM {table}_count_changes{group}{having}; \
         INSERT INTO sim_count_tables (name, columns) VALUES ('{table}_count_changes', '{names}'); "
    )?;
    let add = |row: &str, number: &str| {
        let values: String = counted.iter().map(|column| format!("{row}.{column}, ")).collect();
        format!("INSERT INTO {table}_count_changes ({listed}row_count) VALUES ({values}{number}); ")
    };
    write_count_triggers(sql, directive, &add("new", "1"), &add("old", "-1"))
}

/// Runs the gateway's own definitions that are not migrations: the triggers of derived tables.
pub(super) fn execute_batch(
    connection: &Connection,
    sql: &str,
    statements: &[CheckedStatement],
) -> Result<(), StorageError> {
    let mut own = String::new();
    for statement in sql.split(';').map(str::trim).filter(|statement| !statement.is_empty()) {
        write_definition(&mut own, connection, statement)?;
    }
    sqlite::execute_batch(connection, &own, statements)?;
    note_change_of_everything(connection)
}

const ROW_TRIGGER: &str = " AFTER INSERT OR UPDATE OR DELETE ON ";
const JOURNAL: &str = "FOR EACH ROW EXECUTE FUNCTION host_chain_write('";

fn write_definition(own: &mut String, connection: &Connection, statement: &str) -> Result<(), StorageError> {
    let unknown = || StorageError::statement(format!("the simulated PostgreSQL does not define this: {statement}"));
    let failed = |error: std::fmt::Error| StorageError::Internal(error.to_string());
    if let Some(dropped) = statement.strip_prefix("DROP TRIGGER IF EXISTS ") {
        let (name, table) = dropped.split_once(" ON ").ok_or_else(unknown)?;
        let drop = |verb: &str| format!("DROP TRIGGER IF EXISTS {name}_{verb}; ");
        own.extend(["insert", "update", "delete"].map(drop));
        return write!(own, "DELETE FROM sim_row_triggers WHERE name = '{table}'; ").map_err(failed);
    }
    let created = statement.strip_prefix("CREATE TRIGGER ").and_then(|text| text.split_once(ROW_TRIGGER));
    let (name, rest) = created.ok_or_else(unknown)?;
    let (table, ending) = rest.split_once(' ').ok_or_else(unknown)?;
    let arguments = ending.strip_prefix(JOURNAL).and_then(|text| text.strip_suffix("')")).ok_or_else(unknown)?;
    let (plugin, chain) = arguments.split_once("', '").ok_or_else(unknown)?;
    let columns = columns_of(connection, table).map_err(|e| storage_error(&e))?;
    let image = |row: &str| {
        let members: Vec<String> = columns.iter().map(|column| format!("'{column}', {row}.\"{column}\"")).collect();
        format!("json_object({})", members.join(", "))
    };
    let (old, new) = (image("OLD"), image("NEW"));
    let index = format!("plugin = '{plugin}' AND chain = '{chain}'");
    for (verb, before, after) in [("insert", "NULL", new.as_str()), ("update", &old, &new), ("delete", &old, "NULL")] {
        write!(
            own,
            "CREATE TRIGGER {name}_{verb} AFTER {verb} ON {table} BEGIN \
             SELECT RAISE(ABORT, '{table} is derived from the chain: only chain events write it') \
             WHERE NOT EXISTS (SELECT 1 FROM host_chain_turn WHERE {index}); \
             INSERT INTO host_chain_journal (plugin, chain, block, tab, before_row, after_row) \
             SELECT plugin, chain, block, '{table}', {before}, {after} FROM host_chain_turn WHERE {index} AND block >= 0; END; "
        )
        .map_err(failed)?;
    }
    let text = ending.replace('\'', "''");
    write!(own, "INSERT INTO sim_row_triggers (name, ending) VALUES ('{table}', ' {text}'); ").map_err(failed)
}

fn columns_of(connection: &Connection, table: &str) -> rusqlite::Result<Vec<String>> {
    let mut statement = connection.prepare("SELECT name FROM pragma_table_info(?1) ORDER BY cid")?;
    statement.query_map([table], |row| row.get(0))?.collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    fn spec(sql: &str, postgres: Option<&str>) -> MigrationSpec {
        MigrationSpec { version: 1, name: "a".into(), sql: sql.into(), postgres: postgres.map(str::to_owned) }
    }

    #[test]
    fn tables_of_postgresql_alone_are_its_own_and_other_texts_are_sqlites() {
        let own = "CREATE TABLE a (id {{id}});\nLOCK TABLE b IN SHARE MODE;\nINSERT INTO a DEFAULT VALUES;";
        let text = migration_text(&spec("SELECT 1", Some(own))).unwrap();
        assert_eq!(
            text,
            "CREATE TABLE a (id BIGINT NOT NULL PRIMARY KEY DEFAULT (sim_identity('a')));\n\nINSERT INTO a DEFAULT VALUES;"
        );
        let both = migration_text(&spec("CREATE TABLE a (b {{blob}}) WITHOUT ROWID", Some("CREATE TABLE c"))).unwrap();
        assert_eq!(both.trim_end(), "CREATE TABLE a (b BLOB)");
        let dropped = spec("-- It keeps them.\nSELECT 1;\n", Some("ALTER TABLE a DROP CONSTRAINT b;"));
        assert_eq!(migration_text(&dropped).unwrap(), "-- It keeps them.\nSELECT 1;\n");
    }
}
