//! `{{row_counts TABLE (COLUMN, …)}}` on PostgreSQL: triggers add rows to `TABLE_count_changes`, and the view `TABLE_counts` sums
//! them.
//!
//! The rule: a write of the table only inserts here. A row that holds the number itself would be changed by every write, and two
//! serialisable transactions at the same time would conflict on it. [`crate::Database::compact_row_counts`] puts the rows of one key together.

use super::directive::Directive;
use std::fmt::Write as _;

/// What a table of numbers, as earlier versions of the gateway made it, is replaced by.
pub(crate) struct CountReplacement {
    /// The table of numbers.
    pub old_table: String,
    /// Keeps the numbers, for one transaction.
    pub sql: String,
}

/// With the numbers of the rows that there are. The lock keeps others from adding rows until the triggers count them.
pub(crate) fn write(sql: &mut String, directive: &Directive<'_>) -> std::fmt::Result {
    let Directive { table, columns } = directive;
    let (columns, group) = match columns.join(", ") {
        none if none.is_empty() => (none, String::new()),
        names => (format!("{names}, "), format!(" GROUP BY {names}")),
    };
    write!(
        sql,
        "LOCK TABLE {table} IN SHARE ROW EXCLUSIVE MODE; \
         CREATE TABLE {table}_count_changes AS SELECT {columns}count(*) AS row_count, true AS is_sum FROM {table}{group}; "
    )?;
    write_objects(sql, directive)
}

pub(crate) fn replacement(directive: &Directive<'_>) -> Result<CountReplacement, std::fmt::Error> {
    let Directive { table, columns } = directive;
    let old_table = format!("{table}_counts");
    let mut sql = format!("LOCK TABLE {table}; DROP TRIGGER {old_table}_write ON {table}; ");
    let mut names = String::new();
    if !columns.is_empty() {
        write!(sql, "DROP TRIGGER {old_table}_update ON {table}; ")?;
        write!(names, "{}, ", columns.join(", "))?;
    }
    // Without CASCADE: it would drop a view of the plugin that reads the numbers.
    write!(
        sql,
        "DROP FUNCTION {old_table}_keep(); \
         CREATE TABLE {table}_count_changes AS SELECT {names}row_count, true AS is_sum FROM {old_table} WHERE row_count <> 0; \
         DROP TABLE {old_table}; "
    )?;
    write_objects(&mut sql, directive)?;
    Ok(CountReplacement { old_table, sql })
}

/// All but the table of changes: its defaults and indexes, the view and the triggers.
fn write_objects(sql: &mut String, Directive { table, columns: counted }: &Directive<'_>) -> std::fmt::Result {
    let columns = counted.join(", ");
    write!(
        sql,
        "ALTER TABLE {table}_count_changes ALTER row_count SET NOT NULL, ALTER is_sum SET NOT NULL, \
             ALTER is_sum SET DEFAULT false; \
         CREATE INDEX {table}_count_changes_new ON {table}_count_changes (is_sum) WHERE NOT is_sum; "
    )?;
    if counted.is_empty() {
        write!(
            sql,
            "CREATE VIEW {table}_counts AS \
             SELECT CAST(coalesce(sum(row_count), 0) AS BIGINT) AS row_count FROM {table}_count_changes; "
        )?;
    } else {
        write!(
            sql,
            "CREATE INDEX {table}_count_changes_key ON {table}_count_changes ({columns}); \
             CREATE VIEW {table}_counts AS SELECT {columns}, CAST(sum(row_count) AS BIGINT) AS row_count \
                 FROM {table}_count_changes GROUP BY {columns} HAVING sum(row_count) <> 0; "
        )?;
    }
    write_triggers(sql, table, counted)
}

fn write_triggers(sql: &mut String, table: &str, counted: &[&str]) -> std::fmt::Result {
    let add = |row: &str, number: &str| {
        let names: String = counted.iter().map(|column| format!("{column}, ")).collect();
        let values: String = counted.iter().map(|column| format!("{row}.{column}, ")).collect();
        format!("INSERT INTO {table}_count_changes ({names}row_count) VALUES ({values}{number}); ")
    };
    let (less, more) = (add("old", "-1"), add("new", "1"));
    write!(
        sql,
        "CREATE FUNCTION {table}_counts_keep() RETURNS trigger LANGUAGE plpgsql AS ' BEGIN \
         IF TG_OP <> ''INSERT'' THEN {less}END IF; IF TG_OP <> ''DELETE'' THEN {more}END IF; \
         RETURN NULL; END '; \
         CREATE TRIGGER {table}_counts_write AFTER INSERT OR DELETE ON {table} \
         FOR EACH ROW EXECUTE FUNCTION {table}_counts_keep();"
    )?;
    if counted.is_empty() {
        return Ok(());
    }
    let changes: Vec<String> = counted.iter().map(|column| format!("new.{column} <> old.{column}")).collect();
    write!(
        sql,
        " CREATE TRIGGER {table}_counts_update AFTER UPDATE OF {} ON {table} FOR EACH ROW WHEN ({}) \
         EXECUTE FUNCTION {table}_counts_keep();",
        counted.join(", "),
        changes.join(" OR ")
    )
}
